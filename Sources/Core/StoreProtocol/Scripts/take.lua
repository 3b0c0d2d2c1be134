#!lua flags=allow-oom
-- Takes jobs from the inbox. Only the coordinator that owns the intake's lease can take jobs.
--
-- Uses  base, events, records, pauses, finishing, batches, back_pressure, taken_jobs, refusal_counts, refusals
-- KEYS  1 prefix; 2 inbox
-- ARGV  1 intake token; 2 jobs of `taken` that the caller knows; 3 maximum jobs; 4 maximum bytes; 5 maximum bytes of one job
-- Reply [step, head job id or "", head offset, jobs refused here, jobs to process one by one, ms to wait before more jobs are
--       taken (0: no wait), jobs after the known ones…]
-- Fence the intake's token.
-- OOM   allowed: an accepted job must be delivered even if jobs fill the memory. In that case, `max_backlog` limits how much the
--       call can add.
-- Again the jobs are in `taken`. The caller passes the number of jobs that it knows, and receives the jobs that it does not know.
--
-- Jobs stay in the inbox while the app is full. If there are jobs to take, the reply contains at least one job, even if this job
-- exceeds the maximum bytes. A job of more than ARGV[5] bytes is never returned. The script refuses such a job in the inbox or as
-- the head of `taken`, at most 64 jobs in a call, and cuts the job's original at 64 KiB. If other taken jobs come before such a
-- job, the job and all jobs after it wait until the other jobs are done. After `intake_crash`, a caller with no known job
-- receives one job at a time, until all jobs that were taken at the crash are done.
if call('HGET', P .. 'owners', 'intake') ~= ARGV[1] then return { err = 'FENCED intake' } end
local known, most, bytes, limit = tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
local inbox, taken = KEYS[2], P .. 'taken'
local intake = call('HMGET', P .. 'intake', 'step', 'head', 'offset', 'suspects')
local suspects = tonumber(intake[4] or '0')
local reply = { tonumber(intake[1] or '0'), intake[2] or '', tonumber(intake[3] or '0'), 0, suspects, 0 }
local length = call('LLEN', taken)
if known > length then return { err = 'TAKEN ' .. length } end
if suspects > 0 then most = math.min(most, 1 - known) end

local n, sum = 0, 0
local function give(job)
    n, sum = n + 1, sum + #job
    reply[n + 6] = job
end

local function has_room() return n < most and (n == 0 or sum < bytes) and reply[4] < 64 end

-- Reads the next jobs of a list. Small jobs are read several at a time, so the script may read up to 7 jobs that do not fit into
-- the reply.
local SMALL, MOST_AT_ONCE, PAUSE = 8192, 8, 100
local at_once = 1
local function adapt_read_count(size) at_once = size < SMALL and math.min(2 * at_once, MOST_AT_ONCE) or 1 end
local function read(list, at)
    local jobs, size = call('LRANGE', list, at, at + math.min(at_once, most - n) - 1), 0
    for _, job in ipairs(jobs) do size = size + #job end
    adapt_read_count(size)
    return jobs
end

local function refuse(job)
    reply[4] = reply[4] + 1
    note_refused(string.format('%d', now()), '', 'job', limit, 'larger than ' .. limit .. ' bytes: ' .. #job,
        job:sub(1, 65536))
end

local is_cut, is_behind = reply[2] ~= '', false
while known + n < length and has_room() and not is_behind do
    for _, job in ipairs(read(taken, known + n)) do
        local is_head = known + n == 0
        if not has_room() then break end
        if #job <= limit or is_head and is_cut then
            give(job)
        elseif is_head then
            refuse(job)
            drop_taken(1, suspects > 0 and suspects)
            length = length - 1
            if suspects == 1 then most = tonumber(ARGV[3]) end
            suspects = math.max(0, suspects - 1)
        else
            is_behind = true
            break
        end
    end
end
reply[5] = suspects
if known + n == 0 and length > 0 then reply[6] = PAUSE end

if is_full() then
    reply[6] = PAUSE
    return reply
end
if known + n < length then return reply end

-- Small jobs are read, pushed and trimmed together. A large job is moved with one command inside Redis, because a separate push
-- would copy the job again.
local moved, passed = {}, 0
local function move_small()
    for k = 1, #moved, 1000 do call('RPUSH', taken, unpack(moved, k, math.min(k + 999, #moved))) end
    if passed > 0 then call('LTRIM', inbox, passed, -1) end
    moved, passed = {}, 0
end

at_once = 1
while has_room() do
    if at_once > 1 then
        local jobs = read(inbox, passed)
        if #jobs == 0 then break end
        for _, job in ipairs(jobs) do
            if not has_room() then break end
            passed = passed + 1
            if #job > limit then
                refuse(job)
            else
                moved[#moved + 1] = job
                give(job)
            end
        end
    else
        move_small()
        local job = call('LMOVE', inbox, taken, 'LEFT', 'RIGHT')
        if not job then break end
        if #job > limit then
            call('LTRIM', taken, 0, -2)
            refuse(job)
        else
            give(job)
        end
        adapt_read_count(#job)
    end
end
move_small()
return reply
