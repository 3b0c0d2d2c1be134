#!lua flags=allow-oom
-- Settles results entries: outcomes, retries, invalid tokens, events. Finishes jobs.
--
-- Uses  base, events, records, pauses, finishing, batches, cancelling, app_pause, suppression, pause_entries, campaign_guard, dead_letters
-- KEYS  1 prefix
-- ARGV  1 seconds to keep a job record
--       2 "most hold pause": maximum records in a shard's suppression list; the guard's limits in percent (20 and 95 if missing)
--       3 scopes; scopes × (field, text); entries; entries × entry
--       An entry: its id; number of words that follow for this entry; then in this order:
--         jobs, packed
--         retries; retries × (NN, h|b, delay in ms, tokens, body)
--         gateway responses; "/" and the responses to screenings, if there are any
--         invalid tokens; invalid tokens × (NN, "s" for a screening, suppression record or "", n, n words of an event)
--         events; events × (n, n words)
--         if there are dead letters: "letters", number, maximum pushes and bytes, letters × (job, reason, status, pushes, body)
--         if a part is unreadable: "unreadable", reason, pushes that fail because of it, the entry
--         with an audit of outcomes: "audit", maximum bytes to keep, record
--       A packed job, big-endian: id length u8, id, delivered u32, failed u32, expired u32, cancelled u32, delayed u32,
--       maybe duplicated u32, reasons u8, reasons × (length u8, reason, count u32)
-- Reply [entries settled, jobs finished]; if the guard paused the app, then also [bad tokens, responses]
-- Fence none: XDEL prevents a second settlement, because an entry exists until it is settled. OOM allowed.
-- Again XDEL deletes nothing, so the script skips the entry.
--
-- Pushes with an outcome are subtracted from the open pushes in `load`, to which `split` added them. This happens even if their
-- job has no record. All checks come before the first effect. If words have the wrong form, or a key has the wrong type (error
-- "KEY" and the key's name), the call stops and settles nothing, and the entries stay in the stream. If a job record is damaged,
-- the other records are still settled. In a damaged record, a field that is not a number counts from 0. A record that is not a
-- hash is deleted. The originals are kept in `unreadable`.
--
-- The guard counts how many of the last thousand responses report bad tokens. If an app uses the wrong environment, almost all of
-- its responses report bad tokens. From `pause` percent on, the app is paused, and the bad tokens are not suppressed and get no
-- event. The suppressions from the last thousand responses are taken back. Then the counter `taken_back` grows, so that workers
-- that missed the pause notice the withdrawal. Above `hold` percent the app continues, but its bad tokens, including those of the
-- last thousand responses, go to `unconfirmed` instead of the lists. The tokens stay in `unconfirmed` until an operator confirms
-- them, or until the share of bad tokens is below four fifths of `hold` percent; then `resolve_unconfirmed.lua` applies them. A
-- screening expects bad tokens, so its responses are counted separately. Bad tokens of a screening do not pause the app. If at
-- least `pause` percent of a screening's responses report bad tokens, these tokens go to `unconfirmed`. But if `pause` percent of
-- a screening's responses are DeviceTokenNotForTopic, the app is paused.
--
-- The pushes of a campaign do not count in the app's guard. Each campaign has a guard of its own, which counts the campaign's last
-- thousand outcomes. It pauses the campaign if more than the campaign's share `stop_at` failed. Above `hold` percent of bad
-- tokens, the bad tokens of the campaign go to `unconfirmed`.
local function read_count(text)
    local n = tonumber(text)
    if not n or n < 0 or n % 1 ~= 0 then error('no count: ' .. tostring(text)) end
    return n
end
local _, nscopes = read_count(ARGV[1]), read_count(ARGV[3])
local most, HOLD, PAUSE = ARGV[2]:match('^(%d+) ?(%d*) ?(%d*)$')
most = read_count(most or ARGV[2])
HOLD, PAUSE = (tonumber(HOLD) or 20) / 100, (tonumber(PAUSE) or 95) / 100
local nentries = read_count(ARGV[4 + 2 * nscopes])
local results, t = P .. 'results', now()
local stamp = string.format('%d', t)
local i = 5 + 2 * nscopes

-- The changes of job records. The script adds up each job's numbers while it reads the entries. It does not check first whether
-- an entry is settled already, because this is rare. If an entry turns out to be settled, its numbers are subtracted again. Most
-- jobs have only delivered pushes, so the less frequent numbers are in `rest`: failed, expired, cancelled, delayed, maybe
-- duplicated, and reasons.
local order, delivered, rest = {}, {}, {}
local function add_jobs(packed, sign)
    local at, id, d, f, e, x, w, m, reasons = 1
    while at <= #packed do
        id, d, f, e, x, w, m, reasons, at = struct.unpack('>Bc0I4I4I4I4I4I4B', packed, at)
        local sum = delivered[id]
        if not sum then order[#order + 1] = id end
        delivered[id] = (sum or 0) + sign * d
        if f + e + x + w + m + reasons > 0 then
            local r = rest[id] or { 0, 0, 0, 0, 0, {} }
            rest[id] = r
            r[1], r[2], r[3] = r[1] + sign * f, r[2] + sign * e, r[3] + sign * x
            r[4], r[5] = r[4] + sign * w, r[5] + sign * m
            for _ = 1, reasons do
                local reason, times
                reason, times, at = struct.unpack('>Bc0I4', packed, at)
                r[6][reason] = (r[6][reason] or 0) + sign * times
            end
        end
    end
end

local function check_event(at)
    local n = read_count(ARGV[at])
    if n < 2 or n % 2 == 1 or n > 1000 then error('no event') end
    return at + 1 + n
end

-- The letter for DeviceTokenNotForTopic in suppression records.
local TOPIC = 84

-- Reads an entry's words and changes nothing in Redis. Counts the entry's responses, and how many of them a wrong environment may
-- have caused.
local hasRetries, hasLetters, hasAudit, hasUnreadable, lists, retried = false, false, false, false, {}, {}
local function check_entry_letters(entry, at)
    entry.letters, hasLetters = at, true
    local letters = read_count(ARGV[at])
    read_count(ARGV[at + 1])
    read_count(ARGV[at + 2])
    for k = at + 3, at + 2 + 5 * letters, 5 do
        if ARGV[k] == '' or ARGV[k + 1] == '' then error('a dead letter without job or reason') end
        read_count(ARGV[k + 2])
        if read_count(ARGV[k + 3]) > 65535 then error('too large a dead letter') end
    end
    return at + 3 + 5 * letters
end
local function check_entry(at, words)
    local last = at + words
    if last - 1 > #ARGV then error('words are missing') end
    local entry = { at = at, bad = 0, screened = 0, screenBad = 0, screenTopic = 0 }
    add_jobs(ARGV[at], 1)
    local retries = read_count(ARGV[at + 1])
    at = at + 2
    for _ = 1, retries do
        if not ARGV[at]:match('^%d+$') or not ARGV[at + 1]:match('^[hb]$') then error('no list to try again') end
        read_count(ARGV[at + 2])
        if read_count(ARGV[at + 3]) > 65535 then error('too large a batch') end
        at = at + 5
        hasRetries = true
    end
    local plain, screened = (ARGV[at] or ''):match('^(%d+)/?(%d*)$')
    entry.responses, entry.screened = read_count(plain or ARGV[at]), tonumber(screened) or 0
    local dead = read_count(ARGV[at + 1])
    at = at + 2
    for _ = 1, dead do
        local nn, mark = ARGV[at]:match('^(%d+)(s?)$')
        local record = ARGV[at + 1]
        if not nn or record ~= '' and #record < 10 then error('no token record') end
        if mark == '' then
            if is_guarded(record) then entry.bad = entry.bad + 1 end
        elseif is_guarded(record) then
            entry.screenBad = entry.screenBad + 1
        elseif record:byte() == TOPIC then
            entry.screenTopic = entry.screenTopic + 1
        end
        if record ~= '' then lists[nn] = true end
        at = check_event(at + 2)
    end
    local events = read_count(ARGV[at])
    at = at + 1
    for _ = 1, events do at = check_event(at) end
    if at < last and ARGV[at] == 'letters' then at = check_entry_letters(entry, at + 1) end
    if at < last and ARGV[at] == 'unreadable' then
        entry.unreadable, hasUnreadable = at + 1, true
        read_count(ARGV[at + 2])
        at = at + 4
    end
    if at < last and ARGV[at] == 'audit' then
        entry.audit, hasAudit = at + 1, true
        read_count(ARGV[at + 1])
        at = at + 3
    end
    if at ~= last then error('other words than agreed') end
    return entry
end

-- The current counts of the job records, in the order of the jobs: accepted, in flight, delivered, failed, expired, cancelled;
-- false if there is no job record.
local keys, job_records = {}, {}
-- What must be repaired before the first settlement: fields that are not numbers, and job records that are not hashes.
local resets, drops = {}, {}
local function check_field(key, field, n)
    local number = tonumber(n or '0')
    if number and number > -2 ^ 53 and number < 2 ^ 53 and number % 1 == 0 then return number end
    resets[#resets + 1] = { key, field, n }
    return 0
end
-- HINCRBY fails unless the field contains only digits and perhaps a minus sign. It also fails if the sum overflows, which cannot
-- happen with at most 16 characters. Any other field is reset.
local function check_digits(key, field, n)
    if not n or #n <= 16 and n:match('^%-?%d+$') then return tonumber(n or '0') end
    resets[#resets + 1] = { key, field, n }
    return 0
end
-- The fast path for a job with one push that is delivered in this call, and without unknown recipients. The push is in flight and
-- has no outcome yet, so the other fields of its job record need not be read. The fast path ends at the first job that does not
-- match.
local SINGLE, may_be_single = {}, true
local function is_single(job_record, id)
    may_be_single = delivered[id] == 1 and not rest[id]
    if may_be_single then
        local a = redis.pcall('HMGET', job_record, 'accepted', 'unknown_recipients')
        may_be_single = a[1] == '1' and not a[2]
    end
    return may_be_single
end
local FIELDS = { 'accepted', 'in_flight', 'delivered', 'failed', 'expired', 'cancelled' }
local function read_record(k, id)
    local job_record = P .. 'job:' .. id
    keys[k] = job_record
    if may_be_single and is_single(job_record, id) then
        job_records[k] = SINGLE
        return
    end
    local old = redis.pcall('HMGET', job_record, 'accepted', 'in_flight', 'delivered', 'failed', 'expired', 'cancelled')
    if old.err then
        drops[#drops + 1] = id
        job_records[k] = false
        return
    end
    job_records[k] = old[1] and old
    for field = 1, 6 do old[field] = old[field] and check_field(job_record, FIELDS[field], old[field]) or 0 end
    local r = rest[id]
    if r then
        local function check(field) check_digits(job_record, field, call('HGET', job_record, field)) end
        if r[4] > 0 then check('delayed') end
        if r[5] > 0 then check('maybe_duplicated') end
        for reason in pairs(r[6]) do check('reason:' .. reason) end
    end
end

local entries = {}
for k = 1, nentries do
    local words = read_count(ARGV[i + 1])
    local entry = check_entry(i + 2, words)
    entry.id = ARGV[i]
    entries[k] = entry
    i = i + 2 + words
end
for k, id in ipairs(order) do read_record(k, id) end
-- The guards of the campaigns to which the jobs belong, by the id of the job.
local campaign_guards = {}
if call('EXISTS', P .. 'campaign_ids') == 1 then
    for _, id in ipairs(order) do campaign_guards[id] = read_campaign_guard(id) end
end
-- All pushes of a campaign's entry are in the campaign's job, because no batch has pushes of a campaign and of another job.
local function guard_of(packed) return #packed > 0 and campaign_guards[struct.unpack('>Bc0', packed)] or nil end

-- Checks the types of the app's keys. `broken` names the first key with a wrong type.
local broken
local function check_key(command, key, ...)
    local reply = redis.pcall(command, key, ...)
    if type(reply) ~= 'table' or not reply.err then return reply end
    broken = broken or key
    return {}
end
check_key('XLEN', P .. 'events')
local load = check_key('HMGET', P .. 'load', 'open', 'settled')
check_digits(P .. 'load', 'open', load[1])
check_digits(P .. 'load', 'settled', load[2])
local hasUnsettled = check_key('HLEN', P .. 'unsettled') ~= 0
if hasUnreadable then check_key('HLEN', UNREADABLE) end
has_pauses = call('EXISTS', PAUSED_JOBS, CANCELS) > 0
if has_pauses then
    for _, key in ipairs({ PAUSED_JOBS, CANCELS, PAUSED_TOKENS }) do check_key('HLEN', key) end
end
if has_pauses or hasRetries then check_key('HLEN', P .. 'admission') end
if hasRetries then
    check_key('ZCARD', P .. 'delayed')
    check_key('HLEN', STATES)
    check_key('HLEN', BODIES)
end
if hasLetters or hasAudit then
    check_key('XLEN', DEAD_LETTERS)
    check_key('XLEN', AUDIT)
    for k, n in ipairs(check_key('HMGET', DEAD_LETTER_COUNTS, unpack(COUNT_NAMES))) do check_digits(DEAD_LETTER_COUNTS, COUNT_NAMES[k], n) end
end
local hasDead = next(lists) ~= nil
local guard_counts, paused = check_key('HMGET', P .. 'guard', 'answers', 'bad', 'state', 'screened', 'screen_bad', 'screen_topic'), false
local state = guard_counts[3] or ''
local responses = check_digits(P .. 'guard', 'answers', guard_counts[1])
-- Returns the number of bad responses that `text` contains; nil if this is not a number, or is more than `all` responses. The
-- caller replaces nil by 0, so that the app is not paused.
local function share_of(all, text)
    local n = tonumber(text or '0')
    if n and n >= 0 and n <= all + 1 then return n end
end
local bad = share_of(responses, guard_counts[2])
if not bad then
    resets[#resets + 1] = { P .. 'guard', 'bad', guard_counts[2] }
    bad = 0
end
if hasDead then
    for nn in pairs(lists) do check_key('XLEN', P .. 'suppressed:' .. nn) end
    check_key('HLEN', P .. 'suppression')
    check_key('HLEN', P .. 'scopes')
    paused = check_key('HEXISTS', P .. 'admission', 'paused') == 1
end
if hasDead or bad > 0 then
    check_key('LLEN', P .. 'unproven')
    check_key('LLEN', P .. 'unconfirmed')
    check_digits(P .. 'suppression', 'taken_back', check_key('HMGET', P .. 'suppression', 'taken_back')[1])
end
if broken then return { err = 'KEY ' .. broken } end
for _, reset in ipairs(resets) do reset_field(reset[1], reset[2], reset[3]) end
for _, job in ipairs(drops) do drop_record(job) end

local acks = {}

-- Approximates the last thousand responses with two numbers: all responses and the bad ones. When new responses are counted, both
-- numbers lose the same share, so that at most a thousand responses remain.
local is_tripped, begins_holding, screen_holds
local hadBad = bad > 0
local WINDOW = 1000
local function shift_window(all, before, more, found)
    local stay = math.min(all, math.max(0, WINDOW - more))
    local sum = found + (all > 0 and before * stay / all or 0)
    return stay + more, sum < 0.5 and 0 or sum
end

local function update_guard(more, found)
    if more == 0 or paused or found == 0 and bad == 0 and responses >= WINDOW then return end
    responses, bad = shift_window(responses, bad, more, found)
    is_tripped = responses >= WINDOW and bad >= PAUSE * responses
    if is_tripped then return end
    local was, isHigh = state, responses >= WINDOW and bad > HOLD * responses
    if isHigh and (was == '' or was == 'release') then
        state, begins_holding = 'held', true
    elseif bad < 0.8 * HOLD * responses and was ~= '' then
        state = was == 'confirmed' and '' or 'release'
    end
    call('HSET', P .. 'guard', 'answers', string.format('%d', responses), 'bad', string.format('%.3f', bad), 'state', state)
    if was == 'held' and state ~= 'held' then call('HDEL', P .. 'suppression', 'holding') end
end

local function update_screening_guard(more, found, wrong)
    if more == 0 then return end
    local all = share_of(2 ^ 48, guard_counts[4]) or 0
    local before = share_of(all, guard_counts[5]) or 0
    local _, topic = shift_window(all, share_of(all, guard_counts[6]) or 0, more, wrong)
    all, before = shift_window(all, before, more, found)
    screen_holds = all >= WINDOW and before >= PAUSE * all
    if all >= WINDOW and topic >= PAUSE * all and not paused then
        pause_app(string.format('screening: DeviceTokenNotForTopic in %d of the last %d responses; most likely the topic is wrong',
            math.ceil(topic), all), '', stamp)
        all, before, topic = 0, 0, 0
    end
    call('HSET', P .. 'guard', 'screened', string.format('%d', all), 'screen_bad', string.format('%.3f', before),
        'screen_topic', string.format('%.3f', topic))
end

-- Counts this call's outcomes and bad tokens of a campaign. If the guard's field `holds` is true, bad tokens must be confirmed.
local campaign_holds = false
local function update_campaign_guard(id, guard)
    local r = rest[id]
    local failed = r and r[1] or 0
    local more = delivered[id] + failed
    if more == 0 and guard.found == 0 then return end
    local all, before = guard.all, guard.bad
    guard.all, guard.failed = shift_window(all, guard.failed, more, failed)
    _, guard.bad = shift_window(all, before, more, guard.found)
    guard.holds = guard.all >= LEAST_OUTCOMES and guard.bad > HOLD * guard.all
    campaign_holds = campaign_holds or guard.holds
    store_campaign_guard(id, guard)
end

-- Keeps a suppression until it is confirmed. If its event must wait too, `at` is the index of the event's words.
local UNCONFIRMED, MOST_UNCONFIRMED = P .. 'unconfirmed', 100000
local function keep_unconfirmed(nn, record, at)
    local parts = { nn, record }
    if at then
        for k = at + 1, at + tonumber(ARGV[at]) do parts[#parts + 1] = ARGV[k] end
    end
    call('RPUSH', UNCONFIRMED, cmsgpack.pack(parts))
end

-- Suppresses a token. If the guard may have to take back the record later, the record's id goes to `unproven`. Records of a
-- screening or a campaign are never taken back, so their ids do not go to `unproven`.
local last, unproven = {}, {}
local function suppress_token(nn, record, is_final)
    last[nn] = suppress(nn, record, most)
    if is_guarded(record) and not is_final then
        unproven[#unproven + 1] = nn .. ' ' .. last[nn]
    else
        report_invalid(record)
    end
end

-- Reports the tokens of the first records in `unproven`, before these records leave the list: the guard can no longer take back
-- them. `stop` is the index of the last record.
local function report_proven(stop)
    if redis.pcall('EXISTS', P .. 'registry') ~= 1 then return end
    for _, place in ipairs(call('LRANGE', P .. 'unproven', 0, stop)) do
        local nn, id = place:match('^(%d+) (.+)$')
        local found = nn and redis.pcall('XRANGE', P .. 'suppressed:' .. nn, id, id)
        if found and not found.err and found[1] then report_invalid(found[1][2][2]) end
    end
end

-- Withdraws the suppressions of the last thousand responses. Calls f(NN, record) for each suppression.
local function take_back(f)
    for _, place in ipairs(call('LRANGE', P .. 'unproven', 0, -1)) do
        local nn, id = place:match('^(%d+) (.+)$')
        if nn then
            -- If the list has the wrong type or the id is invalid, there is no record to take back.
            local list = P .. 'suppressed:' .. nn
            local found = f and redis.pcall('XRANGE', list, id, id)
            if found and not found.err and found[1] then f(nn, found[1][2][2]) end
            redis.pcall('XDEL', list, id)
        end
    end
    call('DEL', P .. 'unproven')
    call('HINCRBY', P .. 'suppression', 'taken_back', 1)
end

local function apply_guard()
    if is_tripped then
        take_back()
        call('DEL', P .. 'guard', UNCONFIRMED)
        call('HDEL', P .. 'suppression', 'holding')
        pause_app(string.format('bad tokens: %d of the last %d responses; most likely they are of the other environment',
            math.ceil(bad), responses), '', stamp)
    else
        for k = 1, #unproven, 1000 do
            call('RPUSH', P .. 'unproven', unpack(unproven, k, math.min(k + 999, #unproven)))
        end
        -- `bad` is an estimate, because the order of the responses in a call is unknown. So the ids of the last 2 × `bad` records
        -- are kept for a withdrawal.
        if bad > 0 then
            report_proven(-2 * math.ceil(bad) - 1)
            call('LTRIM', P .. 'unproven', -2 * math.ceil(bad), -1)
        elseif hadBad then
            report_proven(-1)
            call('DEL', P .. 'unproven')
        end
        if state == 'held' or screen_holds or campaign_holds then call('LTRIM', UNCONFIRMED, -MOST_UNCONFIRMED, -1) end
    end
    for k = 4, 2 + 2 * nscopes, 2 do call('HSETNX', P .. 'scopes', ARGV[k], ARGV[k + 1]) end
    for nn, id in pairs(last) do call('HSET', P .. 'suppression', nn, id) end
end

local function settle_entry(entry)
    local at = entry.at + 2
    for k = 1, tonumber(ARGV[entry.at + 1]) do
        local id = ARGV[at] .. '.' .. ARGV[at + 1] .. '.r' .. entry.id .. '.' .. k
        add_batch(id, ARGV[at + 3], ARGV[at + 4])
        call('ZADD', P .. 'delayed', t + tonumber(ARGV[at + 2]), id)
        retried[#retried + 1] = id
        at = at + 5
    end
    local dead = at + 1
    at = at + 2
    for _ = 1, tonumber(ARGV[dead]) do at = at + 3 + tonumber(ARGV[at + 2]) end
    local events = tonumber(ARGV[at])
    at = at + 1
    for _ = 1, events do at = add_next_event(stamp, at) end
    at = dead + 1
    for _ = 1, tonumber(ARGV[dead]) do
        local nn, mark = ARGV[at]:match('^(%d+)(s?)$')
        local record = ARGV[at + 1]
        local isGuarded, isScreened, guard = is_guarded(record), mark == 's', entry.guard
        if isGuarded and not isScreened and (is_tripped or paused) then
            at = at + 3 + tonumber(ARGV[at + 2])
        elseif isGuarded and not isScreened and (state == 'held' or guard and guard.holds) then
            keep_unconfirmed(nn, record, at + 2)
            at = at + 3 + tonumber(ARGV[at + 2])
        else
            if isGuarded and isScreened and (screen_holds or state == 'held') then
                keep_unconfirmed(nn, record)
            elseif record ~= '' then
                suppress_token(nn, record, isScreened or guard)
            end
            at = add_next_event(stamp, at + 2)
        end
    end
end

local kept
local function add_dead_letters(at)
    kept = at
    for k = at + 3, at + 2 + 5 * tonumber(ARGV[at]), 5 do
        add_dead_letter(ARGV[k], ARGV[k + 1], ARGV[k + 2], tonumber(ARGV[k + 3]), ARGV[k + 4])
    end
end

local function keep_entry(id, at)
    local loss = keep_unreadable(id, ARGV[at + 2])
    add_event('data.unreadable', stamp, 'entry', id, 'reason', ARGV[at] .. loss, 'pushes', ARGV[at + 1])
end

local settled, responded, found, screened, screen_bad, screen_topic = {}, 0, 0, 0, 0, 0
for k = 1, nentries do
    local entry = entries[k]
    acks[k] = entry.id
    if call('XDEL', results, entry.id) == 1 then
        settled[#settled + 1] = entry
        entry.guard = guard_of(ARGV[entry.at])
        if entry.guard then
            entry.guard.found = entry.guard.found + entry.bad
        else
            responded = responded + entry.responses
            found = found + entry.bad
        end
        screened, screen_bad = screened + entry.screened, screen_bad + entry.screenBad
        screen_topic = screen_topic + entry.screenTopic
    else
        add_jobs(ARGV[entry.at], -1)
    end
end
update_guard(responded, found)
for id, guard in pairs(campaign_guards) do update_campaign_guard(id, guard) end
update_screening_guard(screened, screen_bad, screen_topic)
if begins_holding then
    take_back(keep_unconfirmed)
    call('HSET', P .. 'suppression', 'holding', '1')
end
for _, entry in ipairs(settled) do
    settle_entry(entry)
    if entry.letters then add_dead_letters(entry.letters) end
    if entry.unreadable then keep_entry(entry.id, entry.unreadable) end
end
if kept then trim_dead_letters(tonumber(ARGV[kept + 1]), tonumber(ARGV[kept + 2]), 0, 512) end
apply_guard()
if hasAudit and #settled > 0 then
    local records, bytes = {}, 0
    for _, entry in ipairs(settled) do
        if entry.audit then records[#records + 1], bytes = ARGV[entry.audit + 1], tonumber(ARGV[entry.audit]) end
    end
    add_audit_record(table.concat(records), bytes)
end
if #acks > 0 then
    call('XACK', results, 'settlement', unpack(acks))
    if hasUnsettled then call('HDEL', P .. 'unsettled', unpack(acks)) end
end

local names, none = { 'failed', 'expired', 'cancelled' }, { 0, 0, 0, 0, 0, {} }
local finished, ended = 0, 0

local function settle_single(job_record, id)
    call('HSET', job_record, 'state', 'finished', 'finished_at', stamp, 'in_flight', '0', 'delivered', '1')
    close_finished_job(job_record, id, stamp, ARGV[1], nil, '1', '1')
    finished, ended = finished + 1, ended + 1
end

local function settle_job(job_record, id, old, plus, r)
    local more = plus + r[1] + r[2] + r[3]
    ended = ended + more
    if not old or more + r[4] + r[5] == 0 then return end
    local changed, n = { 'in_flight', texts[old[2] - more - r[4]] }, 2
    if plus > 0 then
        old[3] = old[3] + plus
        changed[3], changed[4], n = 'delivered', texts[old[3]], 4
    end
    if r ~= none then
        for field = 1, 3 do
            if r[field] > 0 then
                old[field + 3] = old[field + 3] + r[field]
                changed[n + 1], changed[n + 2], n = names[field], texts[old[field + 3]], n + 2
            end
        end
    end
    local ends = old[3] + old[4] + old[5] + old[6] == old[1]
    if ends then
        call('HSET', job_record, 'state', 'finished', 'finished_at', stamp, unpack(changed, 1, n))
    else
        changed[n + 1], changed[n + 2] = 'last_outcome_at', stamp
        call('HSET', job_record, unpack(changed, 1, n + 2))
    end
    if r[4] > 0 then call('HINCRBY', job_record, 'delayed', r[4]) end
    if r[5] > 0 then call('HINCRBY', job_record, 'maybe_duplicated', r[5]) end
    for reason, times in pairs(r[6]) do
        if times > 0 then call('HINCRBY', job_record, 'reason:' .. reason, times) end
    end
    if ends then
        finished = finished + 1
        local unknown = call('HGET', job_record, 'unknown_recipients')
        close_finished_job(job_record, id, stamp, ARGV[1], unknown, texts[old[1]], texts[old[3]], texts[old[4]], texts[old[5]],
            texts[old[6]])
    end
end

for k, id in ipairs(order) do
    if job_records[k] ~= SINGLE then
        settle_job(keys[k], id, job_records[k], delivered[id], rest[id] or none)
    elseif delivered[id] == 1 then
        settle_single(keys[k], id)
    end
end

if ended > 0 then count_ended(ended) end
for id, guard in pairs(campaign_guards) do stop_campaign(id, guard, stamp) end

-- Removes a cancelled job's pushes from a retry batch.
local function cancel_retry(id)
    local s, body, open_positions = load_state(id), call('HGET', BODIES, id), nil
    if not pcall(function() open_positions = cancel_positions(s, body) end) or not open_positions then return end
    add_to_records(open_positions, 'delayed', -1)
    if s.open > 0 then return save_state(id, s) end
    call('ZREM', P .. 'delayed', id)
    drop_batch(id)
end
if #retried > 0 and has_cancels() then
    for _, id in ipairs(retried) do cancel_retry(id) end
    count_cancelled()
end

if is_tripped then return { #settled, finished, math.floor(bad), responses } end
return { #settled, finished }
