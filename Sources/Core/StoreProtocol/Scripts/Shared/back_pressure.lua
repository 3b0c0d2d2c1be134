-- Back pressure: whether jobs stay in the inbox.
-- Uses base, batches.

-- Whether jobs have to stay in the inbox: the app's open pushes have reached the limit. While `trickle` is set
-- they come in a trickle: as long as fewer batches are ready or in flight than one split adds. What waits for its time
-- does not count then, so there is no end to it before the inbox is empty.
local function is_full()
    local admission = call('HMGET', P .. 'admission', 'trickle', 'max_backlog')
    if admission[2] and (tonumber(call('HGET', P .. 'load', 'open') or '0') or 0) >= tonumber(admission[2]) then return true end
    return admission[1] and call('HLEN', STATES) - call('ZCARD', P .. 'delayed') - call('LLEN', P .. 'paused') >= 128
end
