-- Pauses and resumes the positions of paused jobs and device tokens.
-- Uses base, pauses, batches, cancelling.

-- The paused device tokens, by shard.
local paused_tokens

local function paused_tokens_of(nn)
    if not paused_tokens then
        paused_tokens = {}
        local flat = call('HGETALL', PAUSED_TOKENS)
        for i = 1, #flat, 2 do
            local place = flat[i + 1]:match('^%d+ (%d+)')
            paused_tokens[place] = paused_tokens[place] or {}
            paused_tokens[place][flat[i]] = true
        end
    end
    return paused_tokens[nn]
end

-- Calls f(position) for each push in a body whose token is one of `tokens`. A job part is: length u16, options (if the lowest bit
-- of the sixth byte is 1, each push has its own payload), payload length u32, payload, pushes.
local function each_push_to(tokens, body, f)
    local found = false
    for token in pairs(tokens) do found = found or body:find(token, 1, true) end
    if not found then return end
    local _, n, at = struct.unpack('>BI2', body)
    local counts, position = {}, 0
    local length
    for k = 1, n do
        counts[k], _, length, at = struct.unpack('>I2BB', body, at)
        at = at + length
    end
    for k = 1, n do
        length = struct.unpack('>I2', body, at)
        local own = body:byte(at + 7) % 2 == 1
        at = at + 2 + length
        at = at + 4 + struct.unpack('>I4', body, at)
        for _ = 1, counts[k] do
            position = position + 1
            length = body:byte(at)
            if tokens[body:sub(at + 1, at + length)] then f(position) end
            at = at + 1 + length
            if own then at = at + 4 + struct.unpack('>I4', body, at) end
        end
    end
end

-- Pauses the open positions of paused jobs and tokens, resumes other paused positions, and closes the positions of cancelled
-- jobs.
local function pause_positions(id, s, body)
    cancel_positions(s, body)
    local parts = {}
    each_job_part(body, function(job, first, last)
        local part = s.map:sub(first, last)
        if pause_of(job) then
            part = part:gsub('%.', 'p')
        else
            part = part:gsub('p', '.')
        end
        parts[#parts + 1] = part
    end)
    s.map = table.concat(parts)
    local tokens = paused_tokens_of(id:match('^%d+'))
    if tokens then
        each_push_to(tokens, body, function(position)
            if s.map:byte(position) == 46 then
                s.map = s.map:sub(1, position - 1) .. 'p' .. s.map:sub(position + 1)
            end
        end)
    end
    s.open = count_open(s.map, 1, -1)
end

-- Handles a batch without open pushes that was removed from its list. If the batch has paused pushes, it goes to `paused`, or
-- back to its ready list if some of these pushes are no longer paused. Otherwise, it is deleted.
local function end_or_pause(id, s)
    if not s.map:find('p', 1, true) then return drop_batch(id) end
    pause_positions(id, s, call('HGET', BODIES, id))
    if not s.map:find('[.p]') then return drop_batch(id) end
    s.worker, s.granted, s.suspicion = '', 0, ''
    save_state(id, s)
    if s.open == 0 then
        call('RPUSH', P .. 'paused', id)
    else
        local list, nn = ready_list(id)
        return_batch(list, id)
        call('PUBLISH', P .. 'wakeups', nn)
    end
end
