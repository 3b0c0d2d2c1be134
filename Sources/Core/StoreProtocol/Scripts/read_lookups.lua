#!lua flags=allow-oom
-- Reads the first jobs that wait for a look-up of their users or devices, for one coordinator at a time.
--
-- Uses  base, events, records, pauses, finishing, taken_jobs, refusal_counts, refusals
-- KEYS  1 prefix
-- ARGV  1 intake token; 2 maximum jobs; 3 maximum bytes; 4 name of the process that tries the first job alone, or ""; 5 how many
--       processes may try a job
-- Reply [step, jobs refused here, jobs…]
-- Fence the intake's token.
-- OOM   allowed: the call only removes a poison job.
-- Again the jobs stay in `lookups`, and the reply is the same.
--
-- If there are jobs, the reply contains at least one job, even if this exceeds the maximum bytes. After a crash, the jobs are tried
-- one by one. A process that survives a try makes its next call without a name, and this call resets the number of tries. A job
-- that ARGV[5] processes tried without surviving is refused as poison.
if call('HGET', P .. 'owners', 'intake') ~= ARGV[1] then return { err = 'FENCED intake' } end
local intake, lookups = P .. 'intake', P .. 'lookups'
local most, bytes, process = tonumber(ARGV[2]), tonumber(ARGV[3]), ARGV[4]
local state = call('HMGET', intake, 'lookup_step', 'lookup_tries', 'lookup_tried_by')
local reply, sum = { tonumber(state[1] or '0') or 0, 0 }, 0
if process ~= '' then
    most = math.min(most, 1)
    local tries = tonumber(state[2] or '0') or 0
    if state[3] ~= process and call('EXISTS', lookups) == 1 then
        if tries >= tonumber(ARGV[5]) then
            call('HDEL', intake, 'lookup_tries', 'lookup_tried_by')
            local job = call('LPOP', lookups)
            note_refused(string.format('%d', now()), '', 'job', 0, 'poison', job:sub(1, 65536))
            reply[2] = 1
            return reply
        end
        call('HSET', intake, 'lookup_tries', tries + 1, 'lookup_tried_by', process)
    end
elseif state[3] then
    call('HDEL', intake, 'lookup_tries', 'lookup_tried_by')
end
while #reply - 2 < most and (#reply == 2 or sum < bytes) do
    local job = call('LINDEX', lookups, #reply - 2)
    if not job then break end
    reply[#reply + 1] = job
    sum = sum + #job
end
return reply
