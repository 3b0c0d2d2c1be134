#!lua flags=allow-oom
-- Puts dead letters or refused jobs into the inbox again as a new job, or drops them. Each call moves either all the given
-- entries or none.
--
-- Uses  base, events, records, dead_letters
-- KEYS  1 prefix; 2 inbox
-- ARGV  1 the replay's unique name; 2 its step, ascending from 1; 3 the replay's selection as text; 4 the last dead letter that
--       it may take; 5 seconds to remember the replay; 6 dead_letters | refused; 7 the new job, JSON, or "": drop them;
--       8 the job of the dead letters, or "" to drop dead letters of any job; 9 the new job's id, 10 its number among the
--       replays of that job, or ""; then the ids of the dead letters
-- Reply [1, letters, pushes, ""]; [0, letters, pushes, ""] with the totals of all steps if this step was done before;
--       [-1, ms, 0, reason] if the app is full: nothing happened
-- Fence the replay's name and step. STEP n: the replay's last step was n, or step n had other contents; NUMBER n: the number is
--       in use, n is the last used number; GONE id: the id no longer exists; OTHER what: the replay has another selection.
--       After these errors, nothing has changed. OOM allowed: the added data was in Redis before.
-- Again this step is done already, and nothing happens.
local name, step, stream = P .. 'replay:' .. ARGV[1], tonumber(ARGV[2]), P .. ARGV[6]
local json, old, new, first = ARGV[7], ARGV[8], ARGV[9], 11
local what = ARGV[first] .. ' ' .. #ARGV .. ' ' .. new
local last = call('HMGET', name, 'step', 'did', 'of', 'letters', 'pushes')
local done = tonumber(last[1] or '0')
if last[3] and last[3] ~= ARGV[3] then return { err = 'OTHER ' .. last[3] } end
if done == step and last[2] == what then return { 0, tonumber(last[4]), tonumber(last[5]), '' } end
if step ~= done + 1 then return { err = 'STEP ' .. done } end
local counter = P .. 'replays:' .. old
if json ~= '' then
    local admission = call('HMGET', P .. 'admission', 'full', 'retry')
    if admission[1] then return { -1, tonumber(admission[2]) or 1000, 0, admission[1] } end
    if ARGV[10] ~= '' then
        local number = tonumber(call('GET', counter) or '0')
        if tonumber(ARGV[10]) <= number then return { err = 'NUMBER ' .. number } end
        if call('EXISTS', P .. 'job:' .. new) == 1 then return { err = 'NUMBER ' .. ARGV[10] } end
    end
end

local letters = {}
for k = first, #ARGV do
    local letter = call('XRANGE', stream, ARGV[k], ARGV[k])[1]
    if not letter then return { err = 'GONE ' .. ARGV[k] } end
    letters[#letters + 1] = letter
end
local isDeadLetter, stamp, pushes = ARGV[6] == 'dead_letters', string.format('%d', now()), 0
if isDeadLetter then check_dead_letters() end
for _, letter in ipairs(letters) do
    if isDeadLetter then
        pushes = pushes + (remove_dead_letter(letter) or 0)
    else
        call('XDEL', stream, letter[1])
    end
end
if json ~= '' then
    call('RPUSH', KEYS[2], json)
    -- The counter expires after a day. After that, the record of the new job still shows that the number is in use.
    if ARGV[10] ~= '' then call('SET', counter, ARGV[10], 'EX', 86400) end
    local words, job_record = { 'job', old, 'replay', new }, P .. 'job:' .. old
    add_number(words, 'pushes', pushes)
    add_event('job.replayed', stamp, unpack(words))
    if isDeadLetter and call('HEXISTS', job_record, 'state') == 1 then call('HINCRBY', job_record, 'replayed', pushes) end
elseif isDeadLetter then
    call('HINCRBY', DEAD_LETTER_COUNTS, 'dropped', pushes)
end
call('HSET', name, 'step', step, 'did', what, 'of', ARGV[3], 'until', ARGV[4])
call('HINCRBY', name, 'letters', #letters)
call('HINCRBY', name, 'pushes', pushes)
if json ~= '' then call('HINCRBY', name, 'jobs', 1) end
call('EXPIRE', name, ARGV[5])
return { 1, #letters, pushes, '' }
