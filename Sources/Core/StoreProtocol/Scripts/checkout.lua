#!lua flags=allow-oom
-- Checks out batches for a worker, with a send credit: the number of positions that the worker may send.
--
-- Uses  base, events, records, pauses, finishing, batches, suspicion, cancelling, paused_positions
-- KEYS  1 prefix
-- ARGV  1 worker; 2 credit in positions; 3 maximum number of batches; 4 number of known batches, -1: all replies arrived, so do
--       not search for batches that the worker does not know; known × id; lanes: h high and then bulk, o only high, b only bulk;
--       then (NN, token)…
-- Reply [pause reason or "", [shards that may have more], [shards fenced], batch…],
--       batch = [id, delivery, granted, suspicion, map, body]
-- Fence each shard's token; the reply lists the shards with another owner, and batches come only from the remaining shards.
-- OOM   allowed: checking out batches needs no additional memory.
-- Again batches of a lost reply come first: in Redis they are assigned to the worker, but the worker does not know them.
--
-- If ARGV[2] is 256 or more, the call checks out no further batch when at most 127 positions of this credit are left. Such a
-- batch would get credit for only some of its positions, so the worker would have to request more credit immediately.
--
-- `granted` is stored before the worker knows this number. So if the worker exits, all positions up to `granted` may have been
-- sent. A batch whose suspects are sent alone gets no credit here while its first open position is within `suspect`: its worker
-- requests credit for one group at a time and has no other push in flight. After a batch that crashed workers before any send,
-- the call checks out no further batch. The checkout pauses open positions of paused jobs and tokens, and closes the positions of
-- cancelled jobs. A batch in which no open positions remain is paused or deleted. A batch that cannot be read is paused.
local worker, credit, most, nknown = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local first = 6 + math.max(0, nknown)
local lanes = ({ h = { 'ready:', 'bulk:' }, b = { 'bulk:' }, o = { 'ready:' } })[ARGV[first - 1]]
local admission = call('HMGET', P .. 'admission', 'paused', 'pauses')
local paused, any_pauses = admission[1] or '', admission[2]
local remaining, fenced, shards, tokens, owned, given = {}, {}, {}, {}, {}, 0
local reply = { paused, remaining, fenced }
for i = first, #ARGV, 2 do
    shards[#shards + 1] = ARGV[i]
    tokens[ARGV[i]] = ARGV[i + 1]
end

local function give(id, s, body)
    given = given + 1
    reply[given + 3] = { id, s.deliveries, s.granted, s.suspicion, s.map, body }
end

local owners = {}
if #shards > 0 then
    local values = call('HMGET', P .. 'owners', unpack(shards))
    for k, nn in ipairs(shards) do owners[nn] = values[k] end
end

local function is_owned(nn)
    if owned[nn] == nil then
        owned[nn] = owners[nn] == tokens[nn]
        if not owned[nn] then fenced[#fenced + 1] = nn end
    end
    return owned[nn]
end

if nknown >= 0 then
    local known = {}
    for i = 5, first - 2 do known[ARGV[i]] = true end
    for _, nn in ipairs(shards) do
        if is_owned(nn) then
            for _, id in ipairs(call('LRANGE', P .. 'in_flight:' .. nn, 0, -1)) do
                if not known[id] then
                    local s = load_state(id)
                    if s and s.worker == worker then give(id, s, call('HGET', BODIES, id)) end
                end
            end
        end
    end
end

local sums, skipped = {}, 0
local function take(nn, lane)
    local in_flight = P .. 'in_flight:' .. nn
    local id = call('LMOVE', P .. lane .. nn, in_flight, 'LEFT', 'RIGHT')
    if not id then return false end
    local s, body = load_state(id), call('HGET', BODIES, id)
    if not s or not body then
        call('LREM', in_flight, -1, id)
        skipped = skipped + 1
        return true
    end
    local counts = {}
    if not pcall(sum_open, counts, body, s) then
        quarantine_batch(id, s, in_flight, 'unreadable')
        skipped = skipped + 1
        return true
    end
    if any_pauses or s.map:find('p', 1, true) then
        pause_positions(id, s, body)
        counts = {}
        sum_open(counts, body, s)
        if s.open == 0 then
            call('LREM', in_flight, -1, id)
            if s.map:find('p', 1, true) then
                call('RPUSH', P .. 'paused', id)
                save_state(id, s)
            else
                drop_batch(id)
            end
            skipped = skipped + 1
            return true
        end
    end
    local before = (s.map:find('.', 1, true) or 1) - 1
    s.worker, s.deliveries, s.granted = worker, s.deliveries + 1, before
    local limit, isLast = #s.map, false
    if s.suspicion ~= '' then
        local c = load_suspicion(s.suspicion)
        if c.alone == 1 and before < c.suspect then limit = before end
        isLast = c.unsent > 0
    end
    s.granted = math.min(limit, before + credit)
    credit = isLast and 0 or credit - (s.granted - before)
    for job, n in pairs(counts) do sums[job] = (sums[job] or 0) + n end
    save_state(id, s)
    give(id, s, body)
    return true
end

-- Lane high precedes lane bulk. Within a lane, the shards take turns with one batch each. A batch is checked out only if credit
-- is left for it.
local empty, much = {}, credit < 256 and 1 or 128
local function has_credit() return credit >= (given > 0 and much or 1) end
if paused == '' then
    for _, lane in ipairs(lanes) do
        local waiting = shards
        while #waiting > 0 and given < most and has_credit() and skipped < 32 do
            local again = {}
            for _, nn in ipairs(waiting) do
                if given >= most or not has_credit() or skipped >= 32 then break end
                if is_owned(nn) then
                    if take(nn, lane) then
                        again[#again + 1] = nn
                    elseif lane == lanes[#lanes] then
                        empty[nn] = true
                    end
                end
            end
            waiting = again
        end
    end
    add_to_records(sums, 'in_flight', 1)
    if next(cancelled_positions) then count_cancelled() end
    for _, nn in ipairs(shards) do
        if not empty[nn] and owned[nn] ~= false then remaining[#remaining + 1] = nn end
    end
end
return reply
