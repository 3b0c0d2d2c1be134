#!lua flags=allow-oom
-- Takes jobs from the inbox, for one coordinator at a time.
--
-- Uses  base, events, records, pauses, finishing, batches, back_pressure, taken_jobs, refusals
-- KEYS  1 prefix; 2 inbox
-- ARGV  1 intake token; 2 jobs of `taken` that the caller holds; 3 jobs at most; 4 bytes at most; 5 bytes of one job
-- Reply [step, head job id or "", head offset, jobs refused here, jobs that go one by one, ms to wait before more is taken
--       (0: it is not held back), jobs beyond the known ones…]
-- Fence the intake's token.
-- OOM   allowed: a job that was accepted is delivered, also when jobs are what fills the memory. What it may add then is
--       bounded by `max_backlog`.
-- Again the jobs are in `taken`; the caller says how many it knows and gets the others.
--
-- Jobs stay in the inbox while the app is full.
-- At least one job is answered if there is one, even beyond the bytes. A longer one than ARGV[5] never travels, 64 of them
-- a call: it is refused here, in the inbox or as the head of `taken`, its original cut at 64 KiB. Behind other taken jobs
-- it is left alone, and whatever follows it, until these are done. After `intake_crash`, a caller that holds no job is given
-- one, until all jobs are through that were taken then.
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

-- The next jobs of a list: small ones several at a time, so that at most 7 are read that there is no room for.
local SMALL, CHUNK, PAUSE = 8192, 8, 100
local chunk = 1
local function pace(size) chunk = size < SMALL and math.min(2 * chunk, CHUNK) or 1 end
local function read(list, at)
    local jobs, size = call('LRANGE', list, at, at + math.min(chunk, most - n) - 1), 0
    for _, job in ipairs(jobs) do size = size + #job end
    pace(size)
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

-- Small jobs are read, pushed and cut off together; a large one is moved, for what is pushed is written down once more.
local moved, passed = {}, 0
local function move_small()
    for k = 1, #moved, 1000 do call('RPUSH', taken, unpack(moved, k, math.min(k + 999, #moved))) end
    if passed > 0 then call('LTRIM', inbox, passed, -1) end
    moved, passed = {}, 0
end

chunk = 1
while has_room() do
    if chunk > 1 then
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
        pace(#job)
    end
end
move_small()
return reply
