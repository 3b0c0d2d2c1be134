-- Adds the batches of a step of the intake to the queues.
-- Uses base, events, records, pauses, finishing, batches, cancelling.

-- Adds `n` batches. ARGV contains NN, h|b, due in ms or 0, tokens and body of each batch, from ARGV[i] on. `t` is Redis's time in
-- ms. If `has_cancelled` is true, the positions of cancelled jobs are closed. Returns the time in ms until the first of the
-- batches that are delayed is due, or -1; and the set of shards with new ready batches.
local function add_new_batches(i, n, t, has_cancelled)
    local wakes, first, added = {}, -1, 0
    -- Batch ids contain the time instead of a counter. After Redis lost recent writes, a counter would generate the ids of lost
    -- batches again, and a report about a lost batch would count for the new batch.
    local clock = call('TIME')
    local place = string.format('%x%05x', clock[1], clock[2])
    local states, bodies = {}, {}
    for k = 1, n do
        local nn, lane, due, tokens, body = ARGV[i], ARGV[i + 1], tonumber(ARGV[i + 2]), ARGV[i + 3], ARGV[i + 4]
        i = i + 5
        local id, state, s = nn .. '.' .. lane .. '.' .. place .. '.' .. k, new_state(tokens), nil
        -- The age of a delayed batch is counted from its due time.
        if due > t then id = id .. string.format('.%x', due) end
        added = added + tokens
        if has_cancelled then
            s = { worker = '', deliveries = 0, granted = 0, suspicion = '', open = tonumber(tokens), map = state:match('[^|]*$') }
            cancel_positions(s, body)
            state = state_text(s)
        end
        if not s or s.open > 0 then
            states[#states + 1], states[#states + 2] = id, state
            bodies[#bodies + 1], bodies[#bodies + 2] = id, body
        end
        local has_ended = s and s.open == 0
        if not has_ended and due > t then
            local sums = {}
            if s then
                sum_open(sums, body, s)
            else
                each_job_part(body, function(job, a, b) sums[job] = (sums[job] or 0) + b - a + 1 end)
            end
            add_to_records(sums, 'delayed', 1)
            call('ZADD', P .. 'delayed', due, id)
            if first < 0 or due - t < first then first = due - t end
        elseif not has_ended then
            call('RPUSH', P .. (lane == 'b' and 'bulk:' or 'ready:') .. nn, id)
            wakes[nn] = true
        end
    end
    if #states > 0 then
        call('HSET', BODIES, unpack(bodies))
        call('HSET', STATES, unpack(states))
    end
    if added > 0 then increment(P .. 'load', 'open', added) end
    if has_cancelled then count_cancelled() end
    return first, wakes
end
