-- Shared head of every script of an app: put between a script's shebang and its body when it is loaded.
--
-- KEYS[1] is the app's prefix "{pushfarm:APP}:". Every other key is made from it, so that all of a script's
-- keys are in one slot; accounts and lists of other shards cannot be known by the caller.
-- Redis's clock only. Bodies stay opaque but for their table. Nothing here decides.
local call = redis.call
local P = KEYS[1]
local STATES, BODIES = P .. 'states', P .. 'batches'

local function now()
    local t = call('TIME')
    return t[1] * 1000 + math.floor(t[2] / 1000)
end

-- Batch ids are "NN.L.x": the shard, the lane (h or b), something unique.
local function ready_list(id)
    local nn, lane = id:match('^(%d+)%.(%a)')
    return P .. (lane == 'b' and 'bulk:' or 'ready:') .. nn, nn
end

-- The state of a batch: "worker|deliveries|granted|caution|open|map". In the map "." is an open position, "p" an open
-- one of a quarantined job, which is not sent, "x" one that was handed over. `open` counts the dots.
local function load_state(id)
    local s = call('HGET', STATES, id)
    if not s then return nil end
    local w, d, h, c, o, map = s:match('^([^|]*)|(%d+)|(%d+)|([^|]*)|(%d+)|()')
    if not w then return nil end
    return { worker = w, deliveries = tonumber(d), granted = tonumber(h), caution = c, open = tonumber(o), map = s:sub(map) }
end

local function state_text(s)
    return string.format('%s|%d|%d|%s|%d|%s', s.worker, s.deliveries, s.granted, s.caution, s.open, s.map)
end

local function save_state(id, s) call('HSET', STATES, id, state_text(s)) end

-- What is held against a batch, "suspect,group,careful,crashes,kills,culprit,times,unsent"; "" when nothing is.
-- Positions up to `suspect` were in the air when a worker was lost; if `careful` (1) they go `group` at a time, with
-- nothing else of the worker in the air. `crashes` and `kills` in a row had them among their suspects; the last `times`
-- had the one suspect `culprit`. `unsent` crashes in a row came before anything was sent.
local CAUTION = { 'suspect', 'group', 'careful', 'crashes', 'kills', 'culprit', 'times', 'unsent' }
local function load_caution(text)
    local c, i = {}, 1
    for n in text:gmatch('%d+') do
        -- A ninth number is nobody's: an error here would keep all that a lost worker held.
        if i > 8 then break end
        c[CAUTION[i]] = tonumber(n)
        i = i + 1
    end
    for k = i, 8 do c[CAUTION[k]] = 0 end
    return c
end

local function caution_text(c)
    if c.suspect == 0 and c.unsent == 0 then return '' end
    return string.format('%d,%d,%d,%d,%d,%d,%d,%d', c.suspect, c.group, c.careful, c.crashes, c.kills, c.culprit,
        c.times, c.unsent)
end

local function drop_batch(id)
    call('HDEL', STATES, id)
    call('HDEL', BODIES, id)
end

-- The state of a new batch.
local function new_state(tokens)
    return '|0|0||' .. tokens .. '|' .. string.rep('.', tokens)
end

local function add_batch(id, tokens, body)
    call('HSET', BODIES, id, body)
    call('HSET', STATES, id, new_state(tokens))
end

-- Puts a batch back into its list: at the head, but behind older ones that came back before it. The ids of first attempts
-- tell their age; others go first.
local AGE = '^%d+%.%a%.(%x+)%.(%d+)'
local function return_batch(list, id)
    local moment, number = id:match(AGE)
    local older, place = nil, 0
    while moment and place < 256 do
        local other = call('LINDEX', list, place)
        local m, n = (other or ''):match(AGE)
        if not m or m > moment or m == moment and tonumber(n) > tonumber(number) then break end
        older, place = other, place + 1
    end
    if older then
        call('LINSERT', list, 'AFTER', older, id)
    else
        call('LPUSH', list, id)
    end
end

local function count_open(map, first, last)
    local _, n = map:sub(first, last):gsub('%.', '')
    return n
end

-- Calls f(job, first, last, flags) for each segment of a body: its table is tokens u16, flags u8, id length u8, id.
local function each_segment(body, f)
    local _, n, at = struct.unpack('>BI2', body)
    local first, tokens, flags, job = 1, 0, 0, ''
    for _ = 1, n do
        tokens, flags, job, at = struct.unpack('>I2BBc0', body, at)
        f(job, first, first + tokens - 1, flags)
        first = first + tokens
    end
end

-- Adds the open positions of a batch to sums[job].
local function sum_open(sums, body, s)
    local _, n, at = struct.unpack('>BI2', body)
    local whole, last, tokens, job = s.open == #s.map, 0, 0, ''
    for _ = 1, n do
        tokens, _, job, at = struct.unpack('>I2BBc0', body, at)
        last = last + tokens
        if not whole then tokens = count_open(s.map, last - tokens + 1, last) end
        if tokens > 0 then sums[job] = (sums[job] or 0) + tokens end
    end
end

-- What is held back: `quarantine` names jobs whose pushes wait, `devices` those that get nothing for now, `cancels` jobs that
-- were called back ("ms since when, ms from when on, seconds the account is kept, operator"). Read as a table, at once when
-- it is short.
local QUARANTINE, DEVICES, CANCELS = P .. 'quarantine', P .. 'devices', P .. 'cancels'
local function reader(key)
    local all, n = {}, nil
    return function(field)
        if not n then
            n = call('HLEN', key)
            local flat = n > 0 and n <= 200 and call('HGETALL', key) or {}
            for i = 1, #flat, 2 do all[flat[i]] = flat[i + 1] end
        end
        if all[field] == nil then all[field] = n > 200 and call('HGET', key, field) or false end
        return all[field]
    end
end
local quarantine_of, cancel_of = reader(QUARANTINE), reader(CANCELS)

-- Why a job waits, in words, from what `quarantine` says of it: "ms since when, pause or quarantine, operator, reason"; of one
-- that ended workers only the time.
local function hold_reason(mark)
    local kind, by, why = mark:match('^%d+ (%a+) (%S+) ?(.*)$')
    if not kind then return 'poison' end
    return (kind == 'pause' and 'paused' or 'quarantined') .. ' by ' .. by .. (why == '' and '' or ': ' .. why)
end

-- Closes the open positions of jobs that were called back, in a batch that no worker holds. Returns how many of them
-- were open and not parked, by job; nil when there are none. `book_cancelled` books them.
local called_back, moment = {}, nil
local function call_back(s, body)
    local dots
    each_segment(body, function(job, first, last)
        local mark = cancel_of(job)
        if not mark then return end
        moment = moment or now()
        if tonumber(mark:match('^%d+ (%d+)')) > moment then return end
        local part = s.map:sub(first, last)
        local closed, n = part:gsub('[.p]', 'x')
        if n == 0 then return end
        local open = count_open(part, 1, -1)
        s.map = s.map:sub(1, first - 1) .. closed .. s.map:sub(last + 1)
        s.open = s.open - open
        called_back[job] = (called_back[job] or 0) + n
        dots = dots or {}
        dots[job] = (dots[job] or 0) + open
    end)
    return dots
end

-- The tokens of a shard's devices that get nothing for now.
local devices
local function quiet_devices(nn)
    if not devices then
        devices = {}
        local flat = call('HGETALL', DEVICES)
        for i = 1, #flat, 2 do
            local place = flat[i + 1]:match('^%d+ (%d+)')
            devices[place] = devices[place] or {}
            devices[place][flat[i]] = true
        end
    end
    return devices[nn]
end

-- Calls f(position) for each push of a body to one of these devices. A segment: length u16, options (the sixth byte says
-- by its first bit whether each push has a payload of its own), payload length u32, payload, pushes.
local function each_push_to(tokens, body, f)
    local found = false
    for token in pairs(tokens) do found = found or body:find(token, 1, true) end
    if not found then return end
    local _, n, at = struct.unpack('>BI2', body)
    local counts, length, position = {}, 0, 0
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

-- Parks the open positions of quarantined jobs and devices, opens the parked ones of others, and closes those of jobs that
-- were called back.
local function shelve(id, s, body)
    call_back(s, body)
    local parts = {}
    each_segment(body, function(job, first, last)
        local part = s.map:sub(first, last)
        if quarantine_of(job) then
            part = part:gsub('%.', 'p')
        else
            part = part:gsub('p', '.')
        end
        parts[#parts + 1] = part
    end)
    s.map = table.concat(parts)
    local tokens = quiet_devices(id:match('^%d+'))
    if tokens then
        each_push_to(tokens, body, function(position)
            if s.map:byte(position) == 46 then
                s.map = s.map:sub(1, position - 1) .. 'p' .. s.map:sub(position + 1)
            end
        end)
    end
    s.open = count_open(s.map, 1, -1)
end

-- A batch of which nothing is left to send, and which is in no list any more: it ends, or waits with the parked ones.
local function put_away(id, s)
    if not s.map:find('p', 1, true) then return drop_batch(id) end
    shelve(id, s, call('HGET', BODIES, id))
    if not s.map:find('[.p]') then return drop_batch(id) end
    s.worker, s.granted, s.caution = '', 0, ''
    save_state(id, s)
    if s.open == 0 then
        call('RPUSH', P .. 'parked', id)
    else
        local list, nn = ready_list(id)
        return_batch(list, id)
        call('PUBLISH', P .. 'bell', nn)
    end
end

-- Numbers are handed to Redis as text: its own conversion of a Lua number is slow.
local function make_text(all, n)
    local text = string.format('%d', n)
    all[n] = text
    return text
end
local texts = setmetatable({}, { __index = make_text })

-- Tells producers of an event: its type, its time, then field and value in turns. The stream is cut once a call.
local EVENTS = P .. 'events'
local events_cut = false
local function tell(event, at, ...)
    if events_cut then
        call('XADD', EVENTS, '*', 'type', event, 'at', at, ...)
    else
        events_cut = true
        call('XADD', EVENTS, 'MAXLEN', '~', '1000000', '*', 'type', event, 'at', at, ...)
    end
end

-- Keeps the original of what cannot be read, so that it blocks nothing and is not lost: a hash, name to bytes, a thousand of
-- at most 1 MiB. Returns what an event's reason adds when it is not kept.
local UNREADABLE = P .. 'unreadable'
local function keep_unreadable(name, bytes)
    local kept = redis.pcall('HLEN', UNREADABLE)
    if type(kept) ~= 'number' or kept >= 1000 then return '; its original is not kept, as there are too many' end
    if #bytes > 1048576 then return '; its original is not kept, as it is larger than 1 MiB' end
    call('HSETNX', UNREADABLE, name, bytes)
    return ''
end

-- A field that must hold a whole number and does not: its text is kept, and it counts from 0 again. `fsck` names the sum that
-- is wrong then.
local function reset_field(key, field, text)
    local name = key:sub(#P + 1):gsub('^job:', 'job ') .. ' ' .. field
    local loss = keep_unreadable(name, text)
    call('HDEL', key, field)
    tell('data.unreadable', string.format('%d', now()), 'entry', name, 'reason', 'holds no number' .. loss)
end

-- A job record that is not a hash goes: the job has no record any more.
local function drop_record(job)
    local key = P .. 'job:' .. job
    local bytes = call('DUMP', key)
    if not bytes then return end
    local loss = keep_unreadable('job ' .. job, bytes)
    call('DEL', key)
    tell('data.unreadable', string.format('%d', now()), 'job', job, 'reason', 'the job record is not a hash' .. loss)
end

-- Adds to a field of a hash, whatever the field holds. Returns the sum; nil when the key is not a hash.
local function increment(key, field, n)
    local sum = redis.pcall('HINCRBY', key, field, n)
    if type(sum) ~= 'table' then return sum end
    local text = redis.pcall('HGET', key, field)
    if type(text) ~= 'string' then return nil end
    reset_field(key, field, text)
    return call('HINCRBY', key, field, n)
end

-- Adds sign * sums[job] to a field of the job records. They exist: a record is kept while its job has open positions. One that
-- cannot be read does not keep the others from being counted.
local function add_to_accounts(sums, field, sign)
    for job, n in pairs(sums) do
        if not increment(P .. 'job:' .. job, field, texts[sign * n]) then drop_record(job) end
    end
end

-- A count of pushes is left out of an event when it is 0, as of accounts; but for `submitted`, `accepted`, `delivered`.
local function add_number(words, field, n)
    if tonumber(n) == 0 then return end
    words[#words + 1], words[#words + 2] = field, n
end

-- Parks a batch that cannot be understood, so that it does not block others.
local function set_aside(id, s, list, reason)
    s.worker, s.granted = '', 0
    save_state(id, s)
    call('RPUSH', P .. 'parked', id)
    call('LREM', list, -1, id)
    tell('batch.quarantined', now(), 'batch', id, 'reason', reason)
end

-- Whether jobs have to stay in the inbox: the app's open pushes have reached the limit in the gate. While the gate is `held`
-- they come in a trickle: as long as fewer batches are ready or in flight than one split adds. What waits for its time
-- does not count then, so there is no end to it before the inbox is empty.
local function is_full()
    local gate = call('HMGET', P .. 'gate', 'held', 'max_backlog')
    if gate[2] and (tonumber(call('HGET', P .. 'load', 'open') or '0') or 0) >= tonumber(gate[2]) then return true end
    return gate[1] and call('HLEN', STATES) - call('ZCARD', P .. 'delayed') - call('LLEN', P .. 'parked') >= 128
end

-- How much is held back stands in the gate, while anything is: checkouts look at it when there is. `cancels` is how many of
-- it are jobs that were called back.
local function count_holds()
    local gate, cancels = P .. 'gate', call('HLEN', CANCELS)
    local n = call('HLEN', QUARANTINE) + call('HLEN', DEVICES) + cancels
    if n == 0 then call('HDEL', gate, 'quarantined') else call('HSET', gate, 'quarantined', n) end
    if cancels > 0 then
        call('HSET', gate, 'cancels', cancels)
    else
        call('HDEL', gate, 'cancels')
    end
end

local function has_cancels() return call('HEXISTS', P .. 'gate', 'cancels') == 1 end

-- A job that has ended is no longer held back: its id may come again.
local has_holds
local function acquit(job)
    if has_holds == nil then has_holds = call('EXISTS', QUARANTINE, CANCELS) > 0 end
    if not has_holds then return end
    local n = call('HDEL', QUARANTINE, job)
    if n == 1 then call('HDEL', P .. 'job:' .. job, 'parked') end
    if n + call('HDEL', CANCELS, job) > 0 then count_holds() end
end

-- Tells of an event in ARGV: a count of words, then field and value in turns, the type first. Returns the next index.
local function tell_next(at, i)
    local n = tonumber(ARGV[i])
    tell(ARGV[i + 2], at, unpack(ARGV, i + 3, i + n))
    return i + n + 1
end

-- Wakes the workers that wait for batches of these shards.
local function ring(set)
    local names = {}
    for nn in pairs(set) do names[#names + 1] = nn end
    if #names > 0 then call('PUBLISH', P .. 'bell', table.concat(names, ' ')) end
    return names
end

-- Pauses the app, unless it is for the same reason. What an operator has paused (`by`) only an operator lets go on.
local function pause_app(reason, fingerprint, stamp, by)
    local gate = P .. 'gate'
    local old = call('HMGET', gate, 'paused', 'fingerprint', 'paused_by')
    if old[3] or old[1] == reason and old[2] == fingerprint and not by then return 0 end
    call('HSET', gate, 'paused', reason, 'fingerprint', fingerprint, 'since', stamp)
    if by then call('HSET', gate, 'paused_by', by) end
    tell('app.paused', stamp, 'reason', reason)
    return 1
end

-- A shard's suppression list is a stream of records, whose first byte is a letter. Adds one; returns its place.
local function suppress(nn, record, most)
    return call('XADD', P .. 'suppressed:' .. nn, 'MAXLEN', '~', most, '*', 'r', record)
end

-- A gateway says the same of tokens of another environment: BadDeviceToken, InvalidToken.
local function is_guarded(record)
    local letter = record:byte()
    return letter == 66 or letter == 73
end

-- A job has no open push any more, and its account says so: it stays for `keep` seconds.
local function tell_finished(account, job, stamp, keep, accepted, delivered, failed, expired, cancelled)
    call('EXPIRE', account, keep)
    acquit(job)
    if delivered == accepted then
        tell('job.finished', stamp, 'job', job, 'accepted', accepted, 'delivered', delivered)
    else
        local words = { 'job', job, 'accepted', accepted, 'delivered', delivered }
        add_number(words, 'failed', failed)
        add_number(words, 'expired', expired)
        add_number(words, 'cancelled', cancelled)
        tell('job.finished', stamp, unpack(words))
    end
end

local function finish_job(job, stamp, ...)
    local account = P .. 'job:' .. job
    call('HSET', account, 'state', 'finished', 'finished_at', stamp)
    tell_finished(account, job, stamp, ...)
end

-- So many pushes have come to their end.
local function count_ended(n)
    increment(P .. 'load', 'open', -n)
    increment(P .. 'load', 'settled', n)
end

-- Books what was called back: to the accounts, and off the load. The last push of a job finishes it.
local function book_cancelled()
    local ended, stamp = 0, string.format('%d', now())
    for job, n in pairs(called_back) do
        ended = ended + n
        local account, keep = P .. 'job:' .. job, cancel_of(job):match('^%d+ %d+ (%d+)')
        local a = redis.pcall('HMGET', account, 'accepted', 'delivered', 'failed', 'expired')
        local cancelled = a[1] and increment(account, 'cancelled', n)
        if cancelled then
            local delivered, failed, expired = a[2] or '0', a[3] or '0', a[4] or '0'
            local sum = (tonumber(delivered) or 0) + (tonumber(failed) or 0) + (tonumber(expired) or 0) + cancelled
            if sum == tonumber(a[1]) then
                finish_job(job, stamp, keep, a[1], delivered, failed, expired, texts[cancelled])
            end
        end
    end
    called_back = {}
    if ended > 0 then count_ended(ended) end
    return ended
end

-- Drops the first n taken jobs. `careful` is how many go one by one, from the intake's hash.
local function drop_taken(n, careful)
    call('LTRIM', P .. 'taken', n, -1)
    if not careful then return end
    if tonumber(careful) > tonumber(n) then
        call('HSET', P .. 'intake', 'careful', string.format('%d', careful - n))
    else
        call('HDEL', P .. 'intake', 'careful', 'suspect', 'ends')
    end
end

-- Of a job that was split in part, those pushes fail that are in no batch: no batches will be made of them.
local function fail_rest(job, offset, reason, stamp, keep)
    local account = P .. 'job:' .. job
    local a = redis.pcall('HMGET', account, 'accepted', 'delivered', 'failed', 'expired', 'cancelled')
    local rest = (tonumber(a[1] or '0') or 0) - (tonumber(offset) or 0)
    if rest <= 0 then return end
    local failed = increment(account, 'failed', rest)
    increment(account, 'reason:' .. reason, rest)
    tell('job.truncated', stamp, 'job', job, 'failed', rest, 'reason', reason)
    local delivered, expired, cancelled = a[2] or '0', a[4] or '0', a[5] or '0'
    local sum = failed + (tonumber(delivered) or 0) + (tonumber(expired) or 0) + (tonumber(cancelled) or 0)
    if sum == tonumber(a[1]) then
        finish_job(job, stamp, keep, a[1], delivered, failed, expired, cancelled)
    end
end

-- Refused jobs and duplicates are counted in `refusals`, exactly: `refused` and `duplicates` in all; `minute` refused ones in the
-- minute that began at `since`, and `before` in the minute before that. Up to OWN_EVENTS of both in a minute have an event each.
-- Beyond that one event a second is written, which says in `jobs` how many it stands for; `untold_…` wait for it.
local REFUSALS, OWN_EVENTS, MINUTE, SECOND = P .. 'refusals', 100, 60000, 1000

-- A second has passed, or Redis's clock was put back.
local function is_time_to_tell(t, told_at) return t - told_at >= SECOND or told_at - t > MINUTE end

-- Counts a refused job (`what`: refused) or a duplicate (duplicates). Returns for how many jobs an event is to be written now;
-- nil: none.
local function count_refusal(what, stamp)
    local t = tonumber(stamp)
    local r = call('HMGET', REFUSALS, 'since', 'minute', 'before', 'told', 'told_at', 'untold_' .. what)
    for k = 1, 6 do r[k] = tonumber(r[k] or '0') or 0 end
    local since, minute, before, told, told_at, untold = unpack(r)
    if t < since or t - since >= MINUTE then
        local is_next = t >= since and t - since < 2 * MINUTE
        since, before = is_next and since + MINUTE or t, is_next and minute or 0
        minute, told = 0, 0
    end
    if what == 'refused' then minute = minute + 1 end
    untold = untold + 1
    local is_told = told < OWN_EVENTS or is_time_to_tell(t, told_at)
    call('HSET', REFUSALS, 'since', string.format('%d', since), 'minute', minute, 'before', before,
        'told', is_told and told + 1 or told, 'told_at', is_told and stamp or string.format('%d', told_at),
        'untold_' .. what, is_told and 0 or untold)
    increment(REFUSALS, what, 1)
    return is_told and untold or nil
end

-- Tells of the refused jobs and duplicates that still wait for an event, once a second has passed since the last one.
local function tell_untold(t)
    local r = call('HMGET', REFUSALS, 'told_at', 'untold_refused', 'untold_duplicates')
    if not r[1] or not is_time_to_tell(t, tonumber(r[1]) or 0) then return end
    local refused, duplicates, stamp = tonumber(r[2] or '0') or 0, tonumber(r[3] or '0') or 0, string.format('%d', t)
    if refused + duplicates == 0 then return end
    if refused > 0 then
        tell('job.refused', stamp, 'field', 'job', 'position', 0, 'reason', 'more refused jobs, without an event each',
            'jobs', refused)
    end
    if duplicates > 0 then tell('job.duplicate', stamp, 'jobs', duplicates) end
    call('HSET', REFUSALS, 'told_at', stamp, 'untold_refused', 0, 'untold_duplicates', 0)
end

-- Keeps a refused job for inspection. `jobs` is for how many it stands.
local function keep_refused(stamp, job, field, position, reason, original, jobs)
    local words = { 'at', stamp, 'job', job, 'field', field, 'position', position, 'reason', reason }
    if jobs > 1 then words[11], words[12] = 'jobs', jobs end
    words[#words + 1], words[#words + 2] = 'original', original
    call('XADD', P .. 'refused', 'MAXLEN', '~', '10000', '*', unpack(words))
end

-- Counts a refused job, and tells of it and keeps it unless there are too many of them. Returns whether it did.
local function note_refused(stamp, job, field, position, reason, original)
    local jobs = count_refusal('refused', stamp)
    if not jobs then return false end
    keep_refused(stamp, job, field, position, reason, original, jobs)
    local words = { 'field', field, 'position', position, 'reason', reason }
    if job ~= '' then words = { 'job', job, unpack(words) } end
    if jobs > 1 then words[#words + 1], words[#words + 2] = 'jobs', jobs end
    tell('job.refused', stamp, unpack(words))
    return true
end

-- Refuses the first taken job. `intake` is its hash's [careful, head, offset]; `rest` is why those pushes of a job split
-- in part fail that are in no batch, and `keep` how long its account then stays. Returns whether it was told of.
local function refuse_head(intake, stamp, job, field, position, reason, original, rest, keep)
    local careful, head, offset = unpack(intake)
    local is_told = true
    if head and head ~= '' then
        keep_refused(stamp, head, field, position, reason, original, 1)
        fail_rest(head, offset, rest, stamp, keep)
        call('HDEL', P .. 'intake', 'head', 'offset')
    else
        is_told = note_refused(stamp, job, field, position, reason, original)
    end
    drop_taken(1, careful)
    return is_told
end
