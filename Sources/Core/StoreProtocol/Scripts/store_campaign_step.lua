#!lua flags=allow-oom
-- Performs one step of a campaign: adds batches, counts, and the bits of the step's devices. The last step also ends the
-- campaign. If the step's pushes have content of other campaigns, the step also stores the counts of these campaigns.
--
-- Uses  base, events, records, pauses, finishing, batches, cancelling, back_pressure, new_batches, campaigns, merged_campaigns
-- KEYS  1 prefix
-- ARGV  1 intake token; 2 campaign; 3 step; 4 name of the step, which no other step has; 5 name of the step before, or "";
--       6 seconds to keep a job record; 7 "" or, for the last step, the campaign's final state: finished or cancelled;
--       8 reason of the final state, or ""; 9 fields; 10 counts; 11 strings; 12 events; 13 batches; 14 merged campaigns;
--       fields × (name, value); counts × (name, number to add); strings × (key without the prefix, bytes, time of its expiry in
--       ms or 0); events × (n, n words); batches × (NN, h|b, due in ms or 0, tokens, body);
--       merged × (campaign, number and name of its last step, fields, counts, fields × (name, value),
--       counts × (name, number to add))
-- Reply [1, ms until the earliest delayed batch of this call or -1, shards woken…]; [0] if this step was done before. If
--       nothing happened: [2] the campaign is paused; [3] it is cancelled; [4] the app is full; [5, campaign] this merged
--       campaign is paused or cancelled, or is not at the given step
-- Fence the intake's token, and the number and the name of the step before. STEP n: the last step in Redis is n, and this call's
--       step does not follow it, or the campaign is not running. The caller must read the campaign again. If Redis lost steps, new
--       steps have the same numbers, and other names. OOM allowed, for the reason in take.lua.
-- Again this step is done already, and nothing happens. So a device's bit is set if and only if the device is counted once.
--
-- The number of pushes is the sum of the batches' tokens. The script adds this number to `accepted` of the campaign, and to
-- `accepted` and `submitted` of its job record. A cancelled campaign accepts only the step that ends the campaign as cancelled.
-- A pause and a full app refuse only steps with batches. The names of counts with the number of devices of a variant begin with
-- `pulls:`.
if call('HGET', P .. 'owners', 'intake') ~= ARGV[1] then return { err = 'FENCED intake' } end
local id, step, name, before, keep, state = ARGV[2], tonumber(ARGV[3]), ARGV[4], ARGV[5], ARGV[6], ARGV[7]
local campaign, job_record = campaign_key(id), P .. 'job:' .. id
local last = call('HMGET', campaign, 'step', 'did', 'state', 'lane')
local done = tonumber(last[1] or '0') or 0
if step == done and last[2] == name then return { 0 } end
if step ~= done + 1 or (last[2] or '') ~= before or last[3] ~= 'running' then return { err = 'STEP ' .. done } end
local t = now()
local stamp = string.format('%d', t)
local cancel = cancel_of(id)
if cancel and tonumber(cancel:match('^%d+ (%d+)')) <= t and state ~= 'cancelled' then return { 3 } end
local fields, counts, strings, events, batches, merged =
    tonumber(ARGV[9]), tonumber(ARGV[10]), tonumber(ARGV[11]), tonumber(ARGV[12]), tonumber(ARGV[13]), tonumber(ARGV[14])
if batches > 0 then
    if pause_of(id) then return { 2 } end
    if is_full() then return { 4 } end
end
local others = read_merged(15 + 2 * fields + 2 * counts + 3 * strings, events, batches, merged)
for _, other in ipairs(others) do
    if not may_merge(other, t) then return { 5, other.id } end
end

ensure_adding(id, last[4] or 'high', stamp)
local i = 15
for _ = 1, fields do
    call('HSET', campaign, ARGV[i], ARGV[i + 1])
    i = i + 2
end
for _ = 1, counts do
    if ARGV[i]:find('^pulls:') then
        add_variant_number(campaign, ARGV[i], ARGV[i + 1])
    else
        increment(campaign, ARGV[i], ARGV[i + 1])
    end
    i = i + 2
end
for _ = 1, strings do
    if ARGV[i + 2] == '0' then
        call('SET', P .. ARGV[i], ARGV[i + 1])
    else
        call('SET', P .. ARGV[i], ARGV[i + 1], 'PXAT', ARGV[i + 2])
    end
    i = i + 3
end
for _ = 1, events do i = add_next_event(stamp, i) end
local pushes = 0
for k = 1, batches do pushes = pushes + tonumber(ARGV[i + 5 * k - 2]) end
if pushes > 0 then
    increment(campaign, 'accepted', pushes)
    count_in_time(campaign, 'sent_at', pushes, t)
    increment(job_record, 'accepted', pushes)
    increment(job_record, 'submitted', pushes)
end
for _, other in ipairs(others) do store_merged(other, name, t) end
local first, wakes = add_new_batches(i, batches, t, false)
call('HSET', campaign, 'step', step, 'did', name)
if state ~= '' then end_campaign(id, state, ARGV[8], stamp, keep) end
local reply = { 1, first }
for k, nn in ipairs(wake(wakes)) do reply[k + 2] = nn end
return reply
