#!lua flags=allow-oom
-- Removes the first taken inputs of a list, after their changes are applied, and records the refused inputs among them.
--
-- Uses  base, events, records, refusal_counts, inputs
-- KEYS  1 prefix
-- ARGV  1 intake token; 2 name of the list: devices, campaigns, done or rewards; 3 step; 4 finished inputs, refused inputs included; then
--       for each refused input, in order: 5 its place among the finished inputs, from 0; 6 the id that it names, or ""; 7 field;
--       8 position; 9 reason
-- Reply [1, refused inputs with an event]; [0, 0] if this step was done before
-- Fence the intake's token and the step. STEP n: the last step in Redis is n, and this call's step does not follow it. TAKEN n:
--       fewer inputs are taken, for example because Redis lost recent writes. The caller must take again.
-- OOM   allowed: the call frees more memory than the refused inputs need.
-- Again this step is done already, and nothing happens.
if call('HGET', P .. 'owners', 'intake') ~= ARGV[1] then return { err = 'FENCED intake' } end
local step, finished = tonumber(ARGV[3]), tonumber(ARGV[4])
local done = tonumber(call('HGET', INPUTS, 'step') or '0') or 0
if step == done then return { 0, 0 } end
if step ~= done + 1 then return { err = 'STEP ' .. done } end
local length = call('LLEN', INPUTS_TAKEN)
if length < finished then return { err = 'TAKEN ' .. length } end

local stamp, with_event = string.format('%d', now()), 0
for i = 5, #ARGV, 5 do
    local original = call('LINDEX', INPUTS_TAKEN, ARGV[i])
    if note_refused_input(stamp, ARGV[i + 1], ARGV[i + 2], ARGV[i + 3], ARGV[i + 4], original or '') then
        with_event = with_event + 1
    end
end
call('LTRIM', INPUTS_TAKEN, finished, -1)
increment(INPUTS, 'finished', finished)
call('HSET', INPUTS, 'step', step)
forget_tries()
return { 1, with_event }
