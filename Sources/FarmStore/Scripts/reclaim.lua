#!lua flags=allow-oom
-- Takes batches back from workers that are gone, and counts what they may have sent.
--
-- KEYS  1 prefix
-- ARGV  1 gone (the workers named) | all-but (every worker not named); 2 crash 0/1; 3 crashes until the one suspect is
--       failed; 4 crashes without a suspect until the batch is parked; 5 workers; workers × name; then (NN, token)…
-- Reply [batches put back, suspects counted, positions closed as unknown, as poison, batches parked, [shards fenced],
--       [shards with batches put back]]
-- Fence each shard's token. OOM allowed.
-- Again the batches are no longer stamped: nothing to take back.
--
-- A suspect is an open position within the credit. Of at-least-once segments it is sent again and counted in the job's
-- maybe_duplicated; of at-most-once segments it is closed through a results entry k=U with the body and the positions.
-- A crash makes the batch careful (checkout, report); the third one with the same single suspect closes it with k=P.
local every, crash, poison, park = ARGV[1] == 'all-but', ARGV[2] == '1', tonumber(ARGV[3]), tonumber(ARGV[4])
local named, at = {}, 6 + tonumber(ARGV[5])
for i = 6, at - 1 do named[ARGV[i]] = true end
local moved, suspects, unknown, poisoned, parked, fenced, rung = 0, 0, 0, 0, 0, {}, {}
local released, doubtful = {}, {}

local function close(id, body, s, kind, positions)
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

local function take_back(id, s, nn)
    local body, maybe, lost, total = call('HGET', BODIES, id), {}, {}, 0
    each_segment(body, function(job, first, last, flags)
        for p = first, math.min(last, s.granted) do
            if s.map:byte(p) == 46 then
                total = total + 1
                if flags % 2 == 1 then
                    lost[#lost + 1] = p
                else
                    maybe[#maybe + 1] = { job, p }
                end
            end
        end
    end)
    if crash then s.crashes = s.crashes + 1 end
    if #lost > 0 then
        close(id, body, s, 'U', lost)
        unknown = unknown + #lost
    end
    if crash and total == 1 and #maybe == 1 then
        local p = maybe[1][2]
        if s.culprit == p and s.crashes >= poison then
            close(id, body, s, 'P', { p })
            poisoned, maybe, s.crashes, s.culprit = poisoned + 1, {}, 1, 0
        else
            s.culprit = p
        end
    end
    for _, m in ipairs(maybe) do
        suspects = suspects + 1
        doubtful[m[1]] = (doubtful[m[1]] or 0) + 1
    end
    call('LREM', P .. 'flight:' .. nn, -1, id)
    if s.open == 0 then return drop_batch(id) end
    sum_open(released, body, s)
    s.suspect, s.granted, s.worker = math.max(s.suspect, s.granted), 0, ''
    save_state(id, s)
    if crash and total == 0 and s.crashes >= park then
        call('RPUSH', P .. 'parked', id)
        parked = parked + 1
    else
        call('LPUSH', (ready_list(id)), id)
        moved = moved + 1
        rung[nn] = true
    end
end

for i = at, #ARGV, 2 do
    local nn = ARGV[i]
    if call('HGET', P .. 'owners', nn) ~= ARGV[i + 1] then
        fenced[#fenced + 1] = nn
    else
        local ids = call('LRANGE', P .. 'flight:' .. nn, 0, -1)
        for k = #ids, 1, -1 do
            local s = load_state(ids[k])
            if not s then
                call('LREM', P .. 'flight:' .. nn, -1, ids[k])
            elseif (every and not named[s.worker]) or (not every and named[s.worker]) then
                take_back(ids[k], s, nn)
            end
        end
    end
end
add_to_accounts(released, 'in_flight', -1)
add_to_accounts(doubtful, 'maybe_duplicated', 1)
return { moved, suspects, unknown, poisoned, parked, fenced, ring(rung) }
