#!lua flags=allow-oom
-- Reclaims batches of exited workers, and counts the pushes that they may have sent.
--
-- Uses  base, events, records, pauses, finishing, batches, suspicion, cancelling, paused_positions
-- KEYS  1 prefix
-- ARGV  1 gone (the named workers) | all-but (all workers except the named ones); 2 exit: 0 (counts against no job) | crash
--       | kill (from outside); 3 sent 0/1: the worker had suspects in this or another app; 4 kills on the host in the last
--       minute, including this one; limits: 5 crashes until a single suspect fails; 6 kills in a row until a kill counts, 7 kills
--       with the same single suspect until it fails; 8 and 9 like 6 and 7 if other workers were killed as well; 10 crashes before
--       any send until a batch is quarantined; 11 crashes until a job is quarantined; 12 number of workers, one after a crash or
--       a kill; workers × name; then (NN, token)…
-- Reply [batches put back, suspects counted, positions closed as unknown, as poison, batches paused, [shards fenced],
--       [shards with batches put back], [jobs quarantined]]
-- Fence each shard's token. OOM allowed.
-- Again the batches are no longer assigned to the workers, and nothing happens.
--
-- A suspect is an open position within the credit. In an at-least-once job part, the suspect is sent again and counted in the
-- job's maybe_duplicated. In an at-most-once job part, the script closes the suspect: it adds a results entry with k=U, the body
-- and the positions.
--
-- Each crash counts against the batches with suspects and narrows the suspects down. After the first crash, the suspects are sent
-- in groups of the square root of their number, with no other push of the worker in flight. After the second crash, which leaves
-- one group, the suspects of that group are sent one by one. If the third crash has a single suspect, the script closes this
-- suspect as poison, with k=P in the results entry. A kill can have any cause, so the first kill changes nothing. The second kill
-- in a row counts against the batch and narrows the suspects down like a crash. After that, two more kills with the same single
-- suspect close the suspect as poison. More kills are needed if other workers without this batch were killed within the same
-- minute, or if the host has forgotten earlier kills. A push with an outcome is no longer a suspect. If a killed worker had
-- suspects, but had sent no push of a certain batch, earlier kills no longer count against that batch. A crash also counts
-- against a job if all suspects are of that job and nothing else was in flight. A crash also counts against a job if it happened
-- before any send, or if its suspects are at-most-once pushes, which are not sent again. To decide whether all suspects are of
-- one job, the script considers only the shards of this call. The crash of a worker counts only once against a job, even if the
-- worker's shards need several calls. A batch that cannot be read is paused. The positions of a quarantined job are paused when
-- their batches are checked out.
local every, loss, sent, kills = ARGV[1] == 'all-but', ARGV[2], ARGV[3] == '1', tonumber(ARGV[4])
local limits = {}
for i = 5, 11 do limits[i - 4] = tonumber(ARGV[i]) end
local most, kill_limit, same_limit, kill_limit_amid, same_limit_amid, unsent_limit, job_limit = unpack(limits)
-- After kills, the suspects of a batch are sent one by one if there are at most this many, and otherwise in groups.
local few = 64
local named, at = {}, 13 + tonumber(ARGV[12])
for i = 13, at - 1 do named[ARGV[i]] = true end
local moved, suspects, unknown, poisoned, quarantined_batches, fenced, wakes = 0, 0, 0, 0, 0, {}, {}
local released, maybe_sent, accused_jobs, before_any_send, quarantined = {}, {}, {}, {}, {}
local jobs_in_flight, was_lost = {}, false

local function close(body, s, kind, positions)
    local bytes, runs, n = { s.map:byte(1, -1) }, {}, 0
    local i = 1
    while i <= #positions do
        local first = positions[i]
        local last = first
        while positions[i + 1] == last + 1 do
            i = i + 1
            last = last + 1
        end
        for p = first, last do bytes[p] = 120 end
        n = n + last - first + 1
        runs[#runs + 1] = first .. '-' .. last
        i = i + 1
    end
    s.map, s.open = string.char(unpack(bytes)), s.open - n
    call('XADD', P .. 'results', '*', 'k', kind, 'b', body, 'p', table.concat(runs, ','))
end

-- Counts exits in a row with the same single suspect. For a new suspect, the count starts at one. Returns whether the previous
-- single suspect was another position.
local function count_single_suspect(c, position)
    local was = c.culprit
    c.times = position ~= 0 and position == was and c.times + 1 or position ~= 0 and 1 or 0
    c.culprit = position
    return was ~= 0 and position ~= 0 and was ~= position
end

-- Counts a crash with `n` suspects of the batch; `position` is the single suspect or 0. Returns whether the single suspect is
-- poison.
local function crashed(s, c, n, position)
    c.crashes, c.unsent = c.crashes + 1, 0
    count_single_suspect(c, position)
    c.suspect, c.alone, c.group = s.granted, 1, c.crashes == 1 and math.ceil(math.sqrt(n)) or 1
    return position ~= 0 and c.crashes >= most
end

local function killed(s, c, n, position)
    local amid = kills ~= c.kills + 1
    c.kills = c.kills + 1
    if count_single_suspect(c, position) then c.kills = 1 end
    local isCounted = c.kills >= (amid and kill_limit_amid or kill_limit)
    if isCounted then
        c.suspect, c.alone, c.group = s.granted, 1, n > few and math.ceil(math.sqrt(n)) or 1
    elseif c.crashes == 0 then
        c.suspect, c.alone, c.group = math.max(c.suspect, s.granted), 0, 0
    end
    local times = amid and same_limit_amid or same_limit
    return isCounted and position ~= 0 and c.times >= times and c.kills >= times + (amid and kill_limit_amid or kill_limit)
end

-- Counts an exit of a worker that had the batch and sent no push of it. Returns whether the batch must be quarantined.
local function sent_nothing(body, c)
    if loss == 'kill' and sent and c.kills > 0 then
        c.kills, c.culprit, c.times = 0, 0, 0
        if c.crashes == 0 then c.suspect, c.alone = 0, 0 end
    elseif not sent and (loss == 'crash' or kills <= c.unsent + 1) then
        c.unsent = c.unsent + 1
        each_job_part(body, function(job) before_any_send[job] = true end)
    end
    return c.unsent >= unsent_limit
end

-- Returns the job of these positions; nil if they belong to several jobs.
local function only_job(list)
    local job = list[1][1]
    for i = 2, #list do
        if list[i][1] ~= job then return nil end
    end
    return job
end

local function reclaim_batch(id, s, nn)
    local body, maybe, lost, total = call('HGET', BODIES, id), {}, {}, 0
    if not body or not pcall(each_job_part, body, function() end) then
        quarantined_batches = quarantined_batches + 1
        return quarantine_batch(id, s, P .. 'in_flight:' .. nn, 'unreadable')
    end
    each_job_part(body, function(job, first, last, flags)
        for p = first, math.min(last, s.granted) do
            if s.map:byte(p) == 46 then
                total = total + 1
                jobs_in_flight[job] = true
                if flags % 2 == 1 then
                    lost[#lost + 1] = p
                else
                    maybe[#maybe + 1] = { job, p }
                end
            end
        end
    end)
    local c, isQuarantined = load_suspicion(s.suspicion), false
    if c.suspect > 0 and (s.map:find('.', 1, true) or #s.map) > c.suspect then
        c = load_suspicion('')
    end
    if #lost > 0 then
        close(body, s, 'U', lost)
        unknown, was_lost = unknown + #lost, true
    end
    if loss ~= '0' and total == 0 then
        isQuarantined = sent_nothing(body, c)
    elseif loss ~= '0' and #maybe > 0 then
        local position = total == 1 and maybe[1][2] or 0
        local is_alone, is_poison = c.alone == 1
        if loss == 'crash' then
            is_poison = crashed(s, c, #maybe, position)
        else
            is_poison = killed(s, c, #maybe, position)
        end
        local job = only_job(maybe)
        if job and (is_poison or loss == 'crash' and is_alone) then accused_jobs[job] = true end
        if is_poison then
            close(body, s, 'P', { position })
            poisoned, maybe, c = poisoned + 1, {}, load_suspicion('')
        end
    end
    for _, m in ipairs(maybe) do
        suspects = suspects + 1
        maybe_sent[m[1]] = (maybe_sent[m[1]] or 0) + 1
    end
    local in_flight = P .. 'in_flight:' .. nn
    if s.open == 0 then
        call('LREM', in_flight, -1, id)
        return end_or_pause(id, s)
    end
    sum_open(released, body, s)
    s.granted, s.worker, s.suspicion = 0, '', suspicion_text(c)
    save_state(id, s)
    if isQuarantined then
        call('RPUSH', P .. 'paused', id)
        quarantined_batches = quarantined_batches + 1
    else
        return_batch(ready_list(id), id)
        moved = moved + 1
        wakes[nn] = true
    end
    call('LREM', in_flight, -1, id)
end

for i = at, #ARGV, 2 do
    local nn = ARGV[i]
    if call('HGET', P .. 'owners', nn) ~= ARGV[i + 1] then
        fenced[#fenced + 1] = nn
    else
        local ids = call('LRANGE', P .. 'in_flight:' .. nn, 0, -1)
        for k = #ids, 1, -1 do
            local s = load_state(ids[k])
            if not s then
                call('LREM', P .. 'in_flight:' .. nn, -1, ids[k])
            elseif (every and not named[s.worker]) or (not every and named[s.worker]) then
                reclaim_batch(ids[k], s, nn)
            end
        end
    end
end
add_to_records(released, 'in_flight', -1)
add_to_records(maybe_sent, 'maybe_duplicated', 1)
count_cancelled()

-- Counts a crash against a job if it is the only job in `jobs`. If several jobs shared the batches, the crash counts only against
-- the batches. At-most-once pushes are never sent again, so a crash with such suspects counts only against the job.
local function count_single_crash(jobs)
    local first = next(jobs)
    if first and not next(jobs, first) then accused_jobs[first] = true end
end
count_single_crash(before_any_send)
if loss == 'crash' and was_lost then count_single_crash(jobs_in_flight) end
for job in pairs(accused_jobs) do
    local job_record = P .. 'job:' .. job
    local old = redis.pcall('HMGET', job_record, 'state', 'last_crash')
    if old[1] == 'open' and old[2] ~= ARGV[13] then
        local n, t = increment(job_record, 'crashes', 1), now()
        call('HSET', job_record, 'last_crash', ARGV[13])
        if n >= job_limit and call('HSETNX', P .. 'paused_jobs', job, t) == 1 then
            count_pauses()
            call('HSET', job_record, 'paused_reason', 'poison')
            add_event('job.quarantined', t, 'job', job, 'reason', 'poison', 'crashes', n)
            quarantined[#quarantined + 1] = job
        end
    end
end
return { moved, suspects, unknown, poisoned, quarantined_batches, fenced, wake(wakes), quarantined }
