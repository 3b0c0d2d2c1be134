-- Pauses an app.
-- Uses base, events.

-- Pauses the app, unless an operator has paused it or it is already paused for the same reason. If `by` names an operator, the
-- pause replaces a pause by the farm, and only an operator can end it.
local function pause_app(reason, fingerprint, stamp, by)
    local admission = P .. 'admission'
    local old = call('HMGET', admission, 'paused', 'fingerprint', 'paused_by')
    if old[3] or old[1] == reason and old[2] == fingerprint and not by then return 0 end
    call('HSET', admission, 'paused', reason, 'fingerprint', fingerprint, 'since', stamp)
    if by then call('HSET', admission, 'paused_by', by) end
    add_event('app.paused', stamp, 'reason', reason)
    return 1
end
