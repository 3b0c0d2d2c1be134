#!lua name=pushfarm
-- version 8
-- The function that producers call: FCALL pushfarm_submit 1 pushfarm:APP JOB [ID]
--
-- KEYS  1 inbox
-- ARGV  1 the job, JSON; 2 its id, if the job has an id and the producer wants an early reply for a duplicate
-- Reply [status, number, text]:
--       OK, jobs in the inbox, ""
--       BUSY, ms until the next try, reason: memory | backlog | inbox | operator | starting
--       DUPLICATE, 0, id: a job with this id is open or younger than 24 h; nothing was pushed
--       REFUSED, maximum bytes if the job is too large, else 0, reason: the job can never be accepted; nothing was pushed
-- Fence none. OOM refused by Redis itself, with an error OOM: the same as BUSY.
-- Again the job is pushed again. With an id, the second job is refused as a duplicate, here or when it is split.
--
-- The function reads data that the scripts `update_app`, `split` and `settle` write. An app is configured if a coordinator stored
-- its limits. To suggest a name, the function reads the list of apps, if it can. It cannot do this in a Redis Cluster, where the
-- list is in another slot, or for users without the right to read the list. The function finds fewer faults than the intake's
-- parser. It refuses only one kind of job that the parser accepts: a job whose `expires_at` is past. Jobs of more than WHOLE
-- bytes are not decoded. Coordinators load this library and replace older versions, so a version must reply to the calls of all
-- earlier versions.
local WHOLE = 98304

local FIELDS = { 'id', 'tokens', 'payload', 'translations', 'pushes', 'app', 'push_type', 'priority', 'ttl', 'expires_at',
    'collapse_id', 'topic', 'lane', 'deliver_at', 'receipts', 'delivery', 'max_attempts', 'registered_at', 'replay_of', 'users',
    'devices', 'unknown_recipients', 'capped', 'stored' }
-- The expected kind of each field; a `time` may be a number or text.
local KINDS = { id = 'string', tokens = 'array', payload = 'object', translations = 'object', pushes = 'array', app = 'string',
    push_type = 'string', priority = 'number', ttl = 'time', expires_at = 'time', collapse_id = 'string', topic = 'string',
    lane = 'string', deliver_at = 'time', receipts = 'string', delivery = 'string', max_attempts = 'number',
    registered_at = 'time', replay_of = 'string', users = 'array', devices = 'array', unknown_recipients = 'number',
    capped = 'number', stored = 'number' }
-- The fields that name the recipients of a job. A job has exactly one of these fields.
local RECIPIENTS = { 'pushes', 'tokens', 'users', 'devices' }
local NEED = ' is missing; a job needs "payload" with "tokens", "users" or "devices", or it needs "pushes"'
local WORDS = { string = 'a string', number = 'a number', boolean = 'a boolean', array = 'an array', object = 'an object',
    time = 'a number of seconds, or a time as text' }

-- Advice for field names of other push interfaces.
local ADVICE = { aps = 'put it inside "payload"', ['apns-priority'] = 'use "priority"',
    ['apns-collapse-id'] = 'use "collapse_id"', ['apns-expiration'] = 'use "expires_at" or "ttl"',
    ['apns-topic'] = 'use "topic"', ['apns-push-type'] = 'use "push_type"',
    ['apns-id'] = 'the farm makes it; "id" names the job' }

-- Shortens a text from outside, and makes it safe for a message.
local function plain(text, most)
    most = most or 40
    return (text:sub(1, most):gsub('[^ -~]', '?')) .. (#text > most and '...' or '')
end

-- Returns how many letters must be inserted, deleted, replaced or swapped with a neighbour to change `a` into `b`.
local function distance(a, b)
    local before, last = {}, {}
    for j = 0, #b do last[j] = j end
    for i = 1, #a do
        local row = { [0] = i }
        for j = 1, #b do
            local cost = math.min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (a:byte(i) == b:byte(j) and 0 or 1))
            if i > 1 and j > 1 and a:byte(i) == b:byte(j - 1) and a:byte(i - 1) == b:byte(j) then
                cost = math.min(cost, before[j - 2] + 1)
            end
            row[j] = cost
        end
        before, last = last, row
    end
    return last[#b]
end

-- Returns the word in `words` that needs the fewest changes to become `word`. One change per three letters is allowed, and at
-- least one change. Case, `_`, `-` and `.` do not count. The amount of work is limited, so words after the limit are not
-- compared.
local function nearest(word, words)
    if #word > 64 then return nil end
    local function letters(text) return (text:lower():gsub('[-_.]', '')) end
    local wanted, best, least, work = letters(word), nil, nil, 0
    for _, candidate in ipairs(words) do
        local other = letters(candidate)
        local limit = math.max(1, math.floor(math.min(#wanted, #candidate) / 3))
        if math.abs(#wanted - #other) <= limit then
            work = work + #wanted * #other
            if work > 10000 then break end
            local changes = distance(wanted, other)
            if changes <= limit and (not least or changes < least) then best, least = candidate, changes end
        end
    end
    return best
end

local function unknown_app(app)
    local text = 'unknown app "' .. plain(app) .. '"'
    local size = redis.pcall('SCARD', '{pushfarm}:apps')
    local apps = type(size) == 'number' and size <= 1000 and redis.pcall('SMEMBERS', '{pushfarm}:apps')
    if type(apps) == 'table' and not apps.err then
        local known = {}
        table.sort(apps)
        for _, name in ipairs(apps) do
            if name ~= app and #known < 100 and math.abs(#name - #app) <= 8
                and redis.pcall('HEXISTS', '{pushfarm:' .. name .. '}:admission', 'retry') == 1 then
                known[#known + 1] = name
            end
        end
        local meant = nearest(app, known)
        if meant then return text .. '; did you mean "' .. meant .. '"?' end
    end
    return text .. ': no coordinator has configured it'
end

-- Returns the reply for an app that no coordinator has configured: Redis has no limits of the app.
local function not_configured(app)
    local time = redis.call('TIME')
    -- Redis was emptied, and no coordinator has stored its apps yet.
    if redis.pcall('SCARD', '{pushfarm}:apps') == 0 then return { 'BUSY', 1000 + time[2] % 1000, 'starting' } end
    return { 'REFUSED', 0, unknown_app(app) }
end

local function kind_of(value)
    if value == cjson.null then return 'null' end
    local kind = type(value)
    if kind ~= 'table' then return kind end
    if value[1] ~= nil then return 'array' end
    return next(value) == nil and 'empty' or 'object'
end

local function check_kind(field, value)
    local kind, wanted = kind_of(value), KINDS[field]
    if not wanted then
        local name = plain(field)
        local meant = ADVICE[field:lower():gsub('_', '-')]
        if not meant then
            local word = nearest(field, FIELDS)
            meant = word and 'did you mean "' .. word .. '"?' or 'the fields are ' .. table.concat(FIELDS, ', ')
        end
        return name == '' and 'job' or name, 'there is no field "' .. name .. '"; ' .. meant
    end
    if kind == wanted or kind == 'empty' and (wanted == 'array' or wanted == 'object')
        or wanted == 'time' and (kind == 'number' or kind == 'string') then return nil end
    if kind == 'empty' then kind = 'object' end
    return field, '"' .. field .. '" must be ' .. WORDS[wanted] .. '; this is '
        .. (kind == 'null' and 'null; leave the field out for its default' or WORDS[kind])
end

local function check_recipients(job)
    local field
    for _, name in ipairs(RECIPIENTS) do
        if job[name] ~= nil then
            if field then return name, '"' .. field .. '" and "' .. name .. '" exclude each other' end
            field = name
        end
    end
    local omitted = (tonumber(job.unknown_recipients) or 0) + (tonumber(job.capped) or 0)
    local is_empty = field and next(job[field]) == nil and omitted <= 0
    if field == 'pushes' then
        if job.payload ~= nil and job.translations ~= nil then
            return 'translations', '"payload" and "translations" exclude each other'
        end
        if is_empty then return 'pushes', '"pushes" is empty; a job needs at least one' end
        return nil
    end
    if job.translations ~= nil then return 'translations', '"translations" needs "pushes"' end
    if job.payload == nil then return 'payload', '"payload"' .. NEED end
    if not field then return 'tokens', '"tokens"' .. NEED end
    if is_empty then return field, '"' .. field .. '" is empty; a job needs at least one' end
end

-- Whether an ISO 8601 time is past in every time zone: the day has ended everywhere.
local function is_past(text, seconds)
    local year, month, day = text:match('^(%d%d%d%d)%-(%d%d)%-(%d%d)')
    if not year then return false end
    year, month, day = tonumber(year), tonumber(month), tonumber(day)
    -- Years are counted from March here, so that a leap day is the last day of its year.
    if month < 3 then year, month = year - 1, month + 12 end
    local leaps = math.floor(year / 4) - math.floor(year / 100) + math.floor(year / 400)
    local days = 365 * year + leaps + math.floor((153 * (month - 3) + 2) / 5) + day - 719469
    return (days + 2) * 86400 <= seconds
end

local function check_times(job, seconds)
    local ends = job.expires_at
    if ends ~= nil and job.ttl ~= nil then
        return 'expires_at', '"ttl" and "expires_at" exclude each other; give one of them'
    end
    if type(ends) == 'number' and ends > 0 and ends <= seconds then
        return 'expires_at', '"expires_at" is in the past; did you mean "ttl"?'
    end
    if type(ends) == 'string' and is_past(ends, seconds) then return 'expires_at', '"expires_at" is in the past' end
end

-- Returns a job's first fault as field and reason; nil if this function finds no fault.
local function fault(text, app, seconds)
    if not text:find('^[ \t\r\n]*{') then
        return 'job', 'a job must be a JSON object'
    end
    if #text > WHOLE then
        -- If a field's name is not in the text, the field is missing, unless the text spells the name with escapes.
        if text:find('\\', 1, true) or text:find('pushes', 1, true) then return nil end
        if not text:find('payload', 1, true) then return 'payload', '"payload"' .. NEED end
        for _, field in ipairs(RECIPIENTS) do
            if text:find(field, 1, true) then return nil end
        end
        return 'tokens', '"tokens"' .. NEED
    end
    local is_json, job = pcall(cjson.decode, text)
    if not is_json then
        local place = tostring(job):match('at character (%d+)')
        return 'job', 'the job is not valid JSON' .. (place and ', at character ' .. place or '')
    end
    local field, reason
    for name, value in pairs(job) do
        field, reason = check_kind(name, value)
        if field then return field, reason end
    end
    if job.app ~= nil and job.app ~= app then
        return 'app', '"app" is "' .. plain(job.app) .. '", but this is the inbox of "' .. app .. '"'
    end
    field, reason = check_times(job, seconds)
    if field then return field, reason end
    return check_recipients(job)
end

local function submit(keys, args)
    local call, inbox, job, id = redis.call, keys[1], args[1], args[2]
    local app = inbox and inbox:match('^pushfarm:(.+)$')
    if #keys ~= 1 or not job or #args > 2 or not app then
        return redis.error_reply('ERR usage: FCALL pushfarm_submit 1 pushfarm:APP JOB [ID]')
    end
    local prefix = '{' .. inbox .. '}:'
    local admission = call('HMGET', prefix .. 'admission', 'full', 'retry', 'max_backlog', 'max_inbox', 'max_inbox_bytes',
        'max_job_bytes')
    local most, time = tonumber(admission[6]), call('TIME')
    if not admission[2] then return not_configured(app) end
    if most and #job > most then
        return { 'REFUSED', most, 'larger than ' .. most .. ' bytes: ' .. #job }
    end
    local field, reason = fault(job, app, tonumber(time[1]))
    if field then return { 'REFUSED', 0, field .. ': ' .. reason } end
    if id and id ~= '' then
        local known = call('HMGET', prefix .. 'job:' .. id, 'state', 'created_at')
        if known[1] and (known[1] ~= 'finished' or (tonumber(known[2] or '') or 0) > (time[1] - 86400) * 1000) then
            return { 'DUPLICATE', 0, id }
        end
    end
    -- The delay is random, from the minimum up to twice the minimum, so that waiting producers do not return all at once.
    local function busy(why)
        local retry = tonumber(admission[2]) or 1000
        return { 'BUSY', retry + time[2] % retry, why }
    end
    if admission[1] then return busy(admission[1]) end
    local jobs = call('LLEN', inbox)
    local backlog, length, bytes = tonumber(admission[3]), tonumber(admission[4]), tonumber(admission[5])
    if length and jobs >= length then return busy('inbox') end
    -- Estimates the inbox's bytes from the first nodes of the list. An empty inbox accepts one job of any size.
    if bytes and jobs > 0 and call('MEMORY', 'USAGE', inbox, 'SAMPLES', '5') + #job > bytes then
        return busy('inbox')
    end
    if backlog and (tonumber(call('HGET', prefix .. 'load', 'open') or '0') or 0) + jobs >= backlog then
        return busy('backlog')
    end
    return { 'OK', call('RPUSH', inbox, job), '' }
end

redis.register_function('pushfarm_submit', submit)
