-- Back pressure: decides whether jobs stay in the inbox.
-- Uses base, batches.

-- Returns whether jobs must stay in the inbox because the app's open pushes have reached the limit. While `trickle` is set, jobs
-- must also stay in the inbox if 128 batches, as many as one split can add, are ready or in flight. Delayed pushes do not count
-- in this case, because otherwise they could stop the intake for as long as they are delayed.
local function is_full()
    local admission = call('HMGET', P .. 'admission', 'trickle', 'max_backlog')
    if admission[2] and (tonumber(call('HGET', P .. 'load', 'open') or '0') or 0) >= tonumber(admission[2]) then return true end
    return admission[1] and call('HLEN', STATES) - call('ZCARD', P .. 'delayed') - call('LLEN', P .. 'paused') >= 128
end
