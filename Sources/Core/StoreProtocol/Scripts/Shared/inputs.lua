-- The lists of inputs that the intake takes besides jobs: devices, campaigns, devices that are done, and rewards. Refused
-- inputs: their counts, events and originals.
-- Uses base, events, records, refusal_counts.

-- ARGV[2] is the name of the list. For each list: the field that names the subject of an input; the hash with the intake's step
-- and with the counts of finished and of refused inputs; the stream of refused inputs; the event of a refused input; what an
-- input is.
local LISTS = {
    devices = { 'device', 'device_intake', 'refused_devices', 'device.refused', 'device inputs' },
    campaigns = { 'campaign', 'campaign_inputs', 'refused_campaigns', 'campaign.refused', 'campaigns' },
    done = { 'campaign', 'done_inputs', 'refused_done', 'done.refused', 'reports of done devices' },
    rewards = { 'campaign', 'reward_inputs', 'refused_rewards', 'reward.refused', 'rewards' },
}
local SUBJECT, inputs_key, refused_key, REFUSED_EVENT, INPUTS_TEXT = unpack(LISTS[ARGV[2]])
local INPUTS, INPUTS_TAKEN, REFUSED_INPUTS = P .. inputs_key, P .. ARGV[2] .. '_taken', P .. refused_key

-- Forgets which processes tried the first taken input.
local function forget_tries() call('HDEL', INPUTS, 'tries', 'tried_by') end

-- Counts a refused input. Writes an event and keeps the input, cut at 64 KiB, unless there are too many refused inputs. `subject`
-- is the id that the input names, or "". Returns whether the input is kept.
local function note_refused_input(stamp, subject, field, position, reason, original)
    local inputs = count_refusal(INPUTS, 'refused', stamp)
    if not inputs then return false end
    local words = { SUBJECT, subject, 'field', field, 'position', position, 'reason', reason }
    if subject == '' then words = { unpack(words, 3) } end
    if inputs > 1 then words[#words + 1], words[#words + 2] = 'inputs', inputs end
    add_event(REFUSED_EVENT, stamp, unpack(words))
    words[#words + 1], words[#words + 2] = 'original', original:sub(1, 65536)
    call('XADD', REFUSED_INPUTS, 'MAXLEN', '~', '1000', '*', 'at', stamp, unpack(words))
    return true
end

-- Writes an event for the refused inputs that have no event yet, if a second has passed since the last event.
local function report_pending_inputs(t)
    local r = call('HMGET', INPUTS, 'last_event_at', 'pending_refused')
    local inputs = tonumber(r[2] or '0') or 0
    if inputs == 0 or not is_event_due(t, tonumber(r[1]) or 0) then return end
    local stamp = string.format('%d', t)
    add_event(REFUSED_EVENT, stamp, 'field', SUBJECT, 'position', 0,
        'reason', 'more refused ' .. INPUTS_TEXT .. ', without an event each', 'inputs', inputs)
    call('HSET', INPUTS, 'last_event_at', stamp, 'pending_refused', 0)
end
