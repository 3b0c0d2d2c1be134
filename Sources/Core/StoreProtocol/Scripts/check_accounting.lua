#!lua flags=no-writes,allow-oom
-- Checks the accounting of an app: each batch is in exactly one place, and each job record matches the contents of the queues.
--
-- Uses  base, events, batches, accounting
-- KEYS  1 prefix
-- ARGV  1 shards of the farm; 2 part: all, or jobs, or job_records, or NN (the lists of this shard), or rest (everything in no
--       shard's lists); jobs: 3… their ids; job_records: 3 cursor, 4 approximate number of records
-- Reply all, jobs: faults as text; empty if there are none
--       job_records: [next cursor, ids of jobs that are not finished, or whose job record contradicts itself…]
--       a part: [faults, [job, open, in flight, delayed…], [batch ids that were found]]
-- Fence none: the script only reads. Again the same reply.
-- Each call is atomic: "all" and "jobs" read the whole app at one time, a part reads its lists at one time. The sums of several
-- parts are read at different times. If these sums do not match the job records, a call of "jobs" decides.
-- A finished job record with matching counts is correct, unless a queue still contains pushes of the job. So "jobs" checks the
-- named job records and the job records of all jobs in queues. "job_records" returns the ids to name in a call of "jobs".
-- The time grows with the data that is read: for "jobs" all queues, for "all" also all job records. Use this script in tests and
-- on an operator's request, not on a timer.
local part = ARGV[2] or 'all'

-- Returns the job record and, if a field cannot be read, a text that names the field.
local function load_record(job)
    local a, flat = {}, redis.pcall('HGETALL', P .. 'job:' .. job)
    local unread = flat.err and 'has a record that is not a hash'
    for i = 1, #flat, 2 do a[flat[i]] = flat[i + 1] end
    local function n(name) return tonumber(a[name] or '0') or 0 end
    local reasons = 0
    for k, v in pairs(a) do
        if k:sub(1, 7) == 'reason:' then reasons = reasons + (tonumber(v) or 0) end
        if is_invalid(k, v) then unread = unread or k .. ' holds no number' end
    end
    return a, n, n('delivered') + n('failed') + n('expired') + n('cancelled'), reasons, unread
end

if part == 'job_records' then
    local page = call('ZSCAN', P .. 'jobs', ARGV[3], 'COUNT', ARGV[4])
    local reply = { page[1] }
    for i = 1, #page[2], 2 do
        local a, n, ended, reasons, unread = load_record(page[2][i])
        local is_at_rest = a.state == 'finished' and ended == n('accepted') and n('in_flight') == 0 and n('delayed') == 0
        if unread or a.state and not (is_at_rest and reasons <= n('failed')) then reply[#reply + 1] = page[2][i] end
    end
    return reply
end
if part ~= 'all' and part ~= 'jobs' then
    if part == 'rest' then count_rest() else count_shard(part) end
    local sums, ids = {}, {}
    for job, n in pairs(open) do
        for _, word in ipairs({ job, n, in_flight[job] or 0, delayed[job] or 0 }) do sums[#sums + 1] = word end
    end
    for id in pairs(seen) do ids[#ids + 1] = id end
    return { faults, sums, ids }
end

count_all(tonumber(ARGV[1]))
local jobs = {}
for job, n in pairs(open) do
    if n > 0 then jobs[job] = true end
end
if part == 'all' then
    for _, job in ipairs(call('ZRANGE', P .. 'jobs', 0, -1)) do jobs[job] = true end
else
    for i = 3, #ARGV do jobs[ARGV[i]] = true end
end
local adding = adding_campaigns()
for id in pairs(adding) do jobs[id] = true end
for job in pairs(jobs) do
    local a, n, ended, reasons, unread = load_record(job)
    if unread then add_fault('job', job, unread) end
    if (n('adding') == 1) ~= (adding[job] == true) then
        add_fault('job', job, 'has adding', n('adding'), 'but its campaign differs')
    end
    if a.state and call('ZSCORE', P .. 'jobs', job) then
        local sum = ended + (open[job] or 0) + unsplit(job, n('accepted')) + n('adding')
        if sum ~= n('accepted') then add_fault('job', job, 'accepted', n('accepted'), 'and has', sum) end
        if n('in_flight') ~= (in_flight[job] or 0) then add_fault('job', job, 'in_flight', n('in_flight'), 'of', in_flight[job] or 0) end
        if n('delayed') ~= (delayed[job] or 0) then add_fault('job', job, 'delayed', n('delayed'), 'of', delayed[job] or 0) end
        if (a.state == 'finished') ~= (ended == n('accepted')) then add_fault('job', job, 'is', a.state, 'with', ended) end
        if reasons > n('failed') then add_fault('job', job, 'has more reasons than failures') end
    elseif (open[job] or 0) > 0 then
        add_fault('job', job, 'has', open[job], 'open and no job record')
    end
end
local load, total = call('HGET', P .. 'load', 'open') or '0', 0
load = tonumber(load) or load
for _, n in pairs(open) do total = total + n end
if load ~= total then add_fault('load', load, 'of', total, 'open') end
return faults
