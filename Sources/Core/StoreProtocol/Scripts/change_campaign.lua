#!lua flags=allow-oom
-- Creates a campaign, changes its state if it has an expected state, or stores fields of its record.
--
-- Uses  base, events, records, pauses, finishing, campaigns
-- KEYS  1 prefix
-- ARGV  1 intake token, or "" for a change by an operator; 2 campaign; 3 name of the change, which no other change has;
--       4 expected states, separated by spaces; "" if the campaign must not exist; 5 new state, or "" to keep the state; 6 reason
--       of a final state, or ""; 7 seconds to keep a job record; then fields: name, value…
-- Reply [1, state] after the change, and if an earlier call made this change. [0, state] if the campaign has another state, or
--       "" if it does not exist: nothing happened
-- Fence the intake's token, if the call has one. An operator's change only depends on the state. Error EXISTS id, before any
--       effect: a job with this id is open or its record is younger than 24 h. OOM allowed: the records are small.
-- Again this change is done already, and nothing happens.
--
-- The states: draft; scheduled (waits for its start); running; finished, cancelled, refused. A campaign that becomes scheduled
-- gets a job record. So the commands for jobs can pause and cancel it, and no job can use its id. An operator's change adds
-- an entry to the list `campaigns`, so that the intake reads the campaign at once.
if ARGV[1] ~= '' and call('HGET', P .. 'owners', 'intake') ~= ARGV[1] then return { err = 'FENCED intake' } end
local id, name, expected, state, keep = ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[7]
local campaign = campaign_key(id)
local old = call('HMGET', campaign, 'state', 'changed_by_call', 'lane')
local was = old[1] or ''
if old[2] == name then return { 1, was } end
local is_expected = expected == '' and was == ''
for word in expected:gmatch('%S+') do is_expected = is_expected or word == was end
if not is_expected then return { 0, was } end
local t = now()
local stamp = string.format('%d', t)
if not may_add(was) and (state == 'scheduled' or was == '') then
    local job = redis.pcall('HMGET', P .. 'job:' .. id, 'state', 'created_at')
    if job[1] and (job[1] ~= 'finished' or (tonumber(job[2] or '') or t) > t - 86400000) then
        return { err = 'EXISTS ' .. id }
    end
    if job[1] == 'finished' and state == 'scheduled' then call('DEL', P .. 'job:' .. id) end
end

local lane = old[3] or 'high'
for i = 8, #ARGV, 2 do
    call('HSET', campaign, ARGV[i], ARGV[i + 1])
    if ARGV[i] == 'lane' then lane = ARGV[i + 1] end
end
call('HSET', campaign, 'changed_by_call', name)
if was == '' then
    call('HSET', campaign, 'created_at', stamp)
    call('ZADD', CAMPAIGN_IDS, stamp, id)
end
if state == 'finished' or state == 'cancelled' or state == 'refused' then
    end_campaign(id, state, ARGV[6], stamp, keep)
elseif state ~= '' then
    call('HSET', campaign, 'state', state)
    if state == 'scheduled' then ensure_adding(id, lane, stamp) end
    if state == 'running' then
        call('HSET', campaign, 'started_at', stamp)
        add_event('campaign.started', stamp, 'campaign', id)
    end
end
if ARGV[1] == '' then call('RPUSH', P .. 'campaigns', cjson.encode({ changed = id })) end
return { 1, state == '' and was or state }
