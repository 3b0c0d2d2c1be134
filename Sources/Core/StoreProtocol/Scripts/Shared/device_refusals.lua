-- Refused device inputs: their counts, events and originals.
-- Uses base, events, records, refusal_counts.

-- The hash with the step of the device intake and with the counts of finished and of refused inputs.
local DEVICE_INPUTS, DEVICES_TAKEN = P .. 'device_inputs', P .. 'devices_taken'

-- Forgets which processes tried the first taken input.
local function forget_tries() call('HDEL', DEVICE_INPUTS, 'tries', 'tried_by') end

-- Counts a refused device input. Writes an event and keeps the input, cut at 64 KiB, unless there are too many refused inputs.
-- Returns whether the input is kept.
local function note_refused_device(stamp, device, field, position, reason, original)
    local inputs = count_refusal(DEVICE_INPUTS, 'refused', stamp)
    if not inputs then return false end
    local words = { 'device', device, 'field', field, 'position', position, 'reason', reason }
    if device == '' then words = { unpack(words, 3) } end
    if inputs > 1 then words[#words + 1], words[#words + 2] = 'inputs', inputs end
    add_event('device.refused', stamp, unpack(words))
    words[#words + 1], words[#words + 2] = 'original', original:sub(1, 65536)
    call('XADD', P .. 'refused_devices', 'MAXLEN', '~', '1000', '*', 'at', stamp, unpack(words))
    return true
end

-- Writes an event for the refused device inputs that have no event yet, if a second has passed since the last event.
local function report_pending_devices(t)
    local r = call('HMGET', DEVICE_INPUTS, 'last_event_at', 'pending_refused')
    local inputs = tonumber(r[2] or '0') or 0
    if inputs == 0 or not is_event_due(t, tonumber(r[1]) or 0) then return end
    local stamp = string.format('%d', t)
    add_event('device.refused', stamp, 'field', 'device', 'position', 0,
        'reason', 'more refused device inputs, without an event each', 'inputs', inputs)
    call('HSET', DEVICE_INPUTS, 'last_event_at', stamp, 'pending_refused', 0)
end
