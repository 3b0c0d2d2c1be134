#!lua flags=allow-oom
-- Lets parked batches and quarantined jobs go on, as if they had never crashed a worker.
--
-- KEYS  1 prefix
-- ARGV  1 parked batches to look at, at most; 2 at which to begin; 3 job, "" for all
-- Reply [batches put back, where to go on or -1, jobs released]
-- Fence none: each id is moved by whoever finds it in the list. OOM allowed.
-- Again the job is no longer quarantined, its batches no longer parked.
--
-- A batch that nobody can read stays: `fsck` is for that. One that is not in the list of the parked ones opens its
-- parked positions when it is checked out, or at its end.
local most, at, job, jobs = tonumber(ARGV[1]), tonumber(ARGV[2]), ARGV[3], {}
if job ~= '' then
    if call('HDEL', P .. 'quarantine', job) == 1 then jobs = { job } end
elseif at == 0 then
    jobs = call('HKEYS', P .. 'quarantine')
    call('DEL', P .. 'quarantine')
end
count_quarantined()
for _, id in ipairs(jobs) do
    call('HDEL', P .. 'job:' .. id, 'parked', 'crashes', 'last_crash')
    tell('job.released', now(), 'job', id)
end

local ids, moved, rung = call('LRANGE', P .. 'parked', at, at + most - 1), 0, {}
for _, id in ipairs(ids) do
    local s, body = load_state(id), call('HGET', BODIES, id)
    local isHis = job == ''
    local isRead = s and body and pcall(each_segment, body, function(owner) isHis = isHis or owner == job end)
    if isRead and isHis then
        shelve(s, body)
        s.caution = ''
        save_state(id, s)
        if s.open > 0 then
            local list, nn = ready_list(id)
            call('LREM', P .. 'parked', 1, id)
            call('RPUSH', list, id)
            rung[nn] = true
            moved = moved + 1
        end
    end
end
ring(rung)
return { moved, #ids < most and -1 or at + #ids - moved, #jobs }
