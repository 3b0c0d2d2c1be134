-- Closes the open positions of cancelled jobs, and counts them.
-- Uses base, records, pauses, finishing, batches.

-- Closes the open positions of cancelled jobs in a batch that no worker has checked out. Returns, for each job, the number of
-- closed positions that were open and not paused; nil if the call closed no position. Later, `count_cancelled` adds all closed
-- positions to the job records.
local cancelled_positions, moment = {}, nil

-- Keeps cancelled pushes of a campaign whose pushes may have content of other campaigns of its merge group. The intake then sends
-- this content in jobs. An entry is: length of the id u8, id, first position u16, number of positions u16, "x" for each position
-- that is cancelled now, and the body.
local carriers = {}

local function keep_content(job, first, part, body)
    if carriers[job] == nil then carriers[job] = redis.pcall('HEXISTS', P .. 'campaign:' .. job, 'carries') == 1 end
    if not carriers[job] then return end
    local marks = part:gsub('x', '-'):gsub('[.p]', 'x')
    redis.pcall('RPUSH', P .. 'cancelled_content', struct.pack('>Bc0I2I2', #job, job, first, #part) .. marks .. body)
end

local function cancel_positions(s, body)
    local open_positions
    each_job_part(body, function(job, first, last)
        local entry = cancel_of(job)
        if not entry then return end
        moment = moment or now()
        if tonumber(entry:match('^%d+ (%d+)')) > moment then return end
        local part = s.map:sub(first, last)
        local closed, n = part:gsub('[.p]', 'x')
        if n == 0 then return end
        keep_content(job, first, part, body)
        local open = count_open(part, 1, -1)
        s.map = s.map:sub(1, first - 1) .. closed .. s.map:sub(last + 1)
        s.open = s.open - open
        cancelled_positions[job] = (cancelled_positions[job] or 0) + n
        open_positions = open_positions or {}
        open_positions[job] = (open_positions[job] or 0) + open
    end)
    return open_positions
end

-- Counts cancelled positions in the job records, and subtracts them from `load`. If a job has no more open pushes, it is
-- finished.
local function count_cancelled()
    local ended, stamp = 0, string.format('%d', now())
    for job, n in pairs(cancelled_positions) do
        ended = ended + n
        local job_record, keep = P .. 'job:' .. job, cancel_of(job):match('^%d+ %d+ (%d+)')
        local a = redis.pcall('HMGET', job_record, 'accepted', 'delivered', 'failed', 'expired')
        local cancelled = a[1] and increment(job_record, 'cancelled', n)
        if cancelled then
            local delivered, failed, expired = a[2] or '0', a[3] or '0', a[4] or '0'
            local sum = (tonumber(delivered) or 0) + (tonumber(failed) or 0) + (tonumber(expired) or 0) + cancelled
            if sum == tonumber(a[1]) then
                finish_job(job, stamp, keep, a[1], delivered, failed, expired, texts[cancelled])
            end
        end
    end
    cancelled_positions = {}
    if ended > 0 then count_ended(ended) end
    return ended
end
