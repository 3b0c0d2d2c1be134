#!lua flags=allow-oom
-- Takes jobs from the inbox, for one coordinator at a time.
--
-- KEYS  1 prefix; 2 inbox
-- ARGV  1 intake token; 2 jobs of `taken` that the caller holds; 3 jobs at most; 4 bytes at most; 5 bytes of one job
-- Reply [step, head job id or "", head offset, jobs refused here, jobs that go one by one, ms to wait before more is taken
--       (0: it is not held back), jobs beyond the known ones…]
-- Fence the intake's token.
-- OOM   allowed: a job that was accepted is delivered, also when jobs are what fills the memory. What it may add then is
--       bounded by the gate.
-- Again the jobs are in `taken`; the caller says how many it knows and gets the others.
--
-- Jobs stay in the inbox while the app is full.
-- At least one job is answered if there is one, even beyond the bytes. A longer one than ARGV[5] never
-- travels: it is refused here, 64 of them a call, its original cut at 64 KiB. After `blame`, a caller that holds no job is given one, until
-- all jobs are through that were taken then.
if call('HGET', P .. 'owners', 'intake') ~= ARGV[1] then return { err = 'FENCED intake' } end
local known, most, bytes, limit = tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
local taken = P .. 'taken'
local intake = call('HMGET', P .. 'intake', 'step', 'head', 'offset', 'careful')
local careful = tonumber(intake[4] or '0')
local reply = { tonumber(intake[1] or '0'), intake[2] or '', tonumber(intake[3] or '0'), 0, careful, 0 }
local length = call('LLEN', taken)
if known > length then return { err = 'TAKEN ' .. length } end
if careful > 0 then most = math.min(most, 1 - known) end

local n, sum = 0, 0
local function give(job)
    n, sum = n + 1, sum + #job
    reply[n + 6] = job
end
while known + n < length and n < most and (n == 0 or sum < bytes) do
    give(call('LINDEX', taken, known + n))
end

local PAUSE = 100
if is_full() then
    reply[6] = PAUSE
    return reply
end
while known + n >= length and n < most and (n == 0 or sum < bytes) and reply[4] < 64 do
    local job = call('LMOVE', KEYS[2], taken, 'LEFT', 'RIGHT')
    if not job then break end
    if #job > limit then
        call('LTRIM', taken, 0, -2)
        reply[4] = reply[4] + 1
        local at, reason = now(), 'larger than ' .. limit .. ' bytes: ' .. #job
        call('XADD', P .. 'refused', 'MAXLEN', '~', '10000', '*', 'at', at, 'job', '', 'field', 'job', 'position', limit,
            'reason', reason, 'original', job:sub(1, 65536))
        tell('job.refused', at, 'field', 'job', 'position', limit, 'reason', reason)
    else
        length = length + 1
        give(job)
    end
end
return reply
