-- Pauses an app.
-- Uses base, events.

-- Pauses the app, unless it is for the same reason. What an operator has paused (`by`) only an operator lets go on.
local function pause_app(reason, fingerprint, stamp, by)
    local gate = P .. 'admission'
    local old = call('HMGET', gate, 'paused', 'fingerprint', 'paused_by')
    if old[3] or old[1] == reason and old[2] == fingerprint and not by then return 0 end
    call('HSET', gate, 'paused', reason, 'fingerprint', fingerprint, 'since', stamp)
    if by then call('HSET', gate, 'paused_by', by) end
    tell('app.paused', stamp, 'reason', reason)
    return 1
end
