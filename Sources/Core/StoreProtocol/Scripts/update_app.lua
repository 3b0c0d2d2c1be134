#!lua flags=allow-oom
-- Pauses and resumes an app, opens and closes it to producers, cancels jobs for producers, and returns the app's state.
--
-- Uses  base, events, records, pauses, finishing, batches, app_pause, taken_jobs, refusal_counts, refusals, pause_entries
-- KEYS  1 prefix; update: 2 inbox
-- ARGV  pause, reason, fingerprint of the credentials, operator or "" | resume, any|own
--       | rate, pushes per second or off or "" (as configured), operator | admission, open|closed|"", operator
--       | update, memory full|relieved|keep, intake limited to a trickle 0/1, ms until a producer should retry, maximum of: open
--         pushes and jobs, jobs in the inbox, bytes of the inbox, bytes of one job; seconds to keep a cancelled job's record
--       | forget, minimum ms since a coordinator with this app last called update
-- Reply pause, resume, rate, admission, forget: 1 if something changed, else 0. resume own: 2 if an operator paused the app;
--       then nothing happens.
--       update: [why the app is full or "", 1 if this call changed whether the app is full, open pushes, jobs in the inbox,
--       batches that are ready or in flight (0 while the app is paused)]
-- Fence none: the setting is stored, and the last stored setting applies. OOM allowed.
-- Again nothing changes, and no second event is written.
--
-- While `trickle` is set, `take` takes only jobs for a few batches at a time. The script sets `trickle` if the caller requests
-- it, and while memory is full. If an operator has closed or opened the app, this setting decides instead of the app's load, and
-- the reason of a closed app is "operator". The setting does not change `trickle`. An app is full because of the farm's memory
-- ("memory"), its open pushes and jobs ("backlog") or its inbox ("inbox"). "backlog" and "inbox" end when all values are below
-- nine tenths of their limits. An app is configured if its limits are stored: `submit` refuses jobs for an app without limits.
-- `update` stores the limits, and once a minute the time in `configured`. `forget` removes the limits and the time. If another
-- coordinator still configures the app, its next `update` stores the limits again.
local admission, t, op = P .. 'admission', string.format('%d', now()), ARGV[1]
if op == 'pause' then
    return pause_app(ARGV[2], ARGV[3], t, ARGV[4] ~= '' and ARGV[4] or nil)
elseif op == 'resume' then
    if ARGV[2] == 'own' and call('HEXISTS', admission, 'paused_by') == 1 then return 2 end
    if call('HDEL', admission, 'paused', 'fingerprint', 'since', 'paused_by') == 0 then return 0 end
    add_event('app.resumed', t)
    call('PUBLISH', P .. 'wakeups', '*')
    return 1
elseif op == 'rate' then
    local old = call('HGET', admission, 'rate') or ''
    if old == ARGV[2] then return 0 end
    if ARGV[2] == '' then
        call('HDEL', admission, 'rate', 'rate_by', 'rate_since')
    else
        call('HSET', admission, 'rate', ARGV[2], 'rate_by', ARGV[3], 'rate_since', t)
    end
    return 1
end

local names = { 'retry', 'max_backlog', 'max_inbox', 'max_inbox_bytes', 'max_job_bytes' }
if op == 'forget' then
    local configured = tonumber(call('HGET', admission, 'configured') or '0') or 0
    if now() - configured < tonumber(ARGV[2]) then return 0 end
    return call('HDEL', admission, 'configured', unpack(names)) > 0 and 1 or 0
end

-- Stores why the app is full; an empty reason: it is not. Writes an event for producers when the app becomes full, and when it
-- stops being full.
local function set_full(was, reason)
    if reason == was then return 0 end
    if reason == '' then call('HDEL', admission, 'full', 'full_since') else call('HSET', admission, 'full', reason) end
    if (reason == '') == (was == '') then return 0 end
    if reason == '' then
        add_event('admission.opened', t, 'reason', was)
    else
        call('HSET', admission, 'full_since', t)
        add_event('admission.closed', t, 'reason', reason)
    end
    return 1
end

if op == 'admission' then
    local old = call('HMGET', admission, 'admission', 'full')
    local wanted, was = ARGV[2], old[2] or ''
    if (old[1] or '') == wanted then return 0 end
    if wanted == '' then
        call('HDEL', admission, 'admission', 'admission_by', 'admission_since')
        if was == 'operator' then set_full(was, '') end
    else
        call('HSET', admission, 'admission', wanted, 'admission_by', ARGV[3], 'admission_since', t)
        set_full(was, wanted == 'closed' and 'operator' or '')
    end
    return 1
end

local old = call('HMGET', admission, 'full', 'trickle', 'paused', 'admission', 'configured', unpack(names))
for i, name in ipairs(names) do
    if old[i + 5] ~= ARGV[i + 3] then call('HSET', admission, name, ARGV[i + 3]) end
end
local moment, configured = tonumber(t), tonumber(old[5] or '0') or 0
if moment < configured or moment - configured >= MINUTE then call('HSET', admission, 'configured', t) end
report_pending_refusals(moment)

-- Cancels the jobs that producers asked to cancel. If there are too many cancelled jobs, the remaining requests wait for the next
-- call. A request for an unknown job is answered by an event. The function `pushfarm_cancel` refuses requests when the list is
-- full. If a producer pushes to the list without this function, the requests beyond its limit are dropped, with an event.
local MOST_REQUESTS = 1000

local function cancel_requested()
    local key, done = P .. 'cancel_requests', 0
    local requests = redis.pcall('LRANGE', key, 0, 99)
    if requests.err then return end
    for _, job in ipairs(requests) do
        local what = cancel_job(job, KEYS[2], t, t, ARGV[9], 'producer')[2]
        if what == 'full' then break end
        if what == 'unknown' then add_event('job.cancel_refused', t, 'job', job:sub(1, 64), 'reason', 'unknown job') end
        done = done + 1
    end
    if done > 0 then call('LTRIM', key, done, -1) end
    local excess = #requests < 100 and 0 or call('LLEN', key) - MOST_REQUESTS
    if excess > 0 then
        call('LTRIM', key, 0, MOST_REQUESTS - 1)
        add_event('job.cancel_refused', t, 'jobs', excess, 'reason', 'too many requests')
    end
end
cancel_requested()
local batches = 0
if not old[3] then batches = call('HLEN', STATES) - call('ZCARD', P .. 'delayed') - call('LLEN', P .. 'paused') end

local was = old[1] or ''
local open = math.max(0, tonumber(call('HGET', P .. 'load', 'open') or '0') or 0)
local jobs = call('LLEN', KEYS[2])
local bytes = jobs > 0 and call('MEMORY', 'USAGE', KEYS[2], 'SAMPLES', '5') or 0
local share = (was == 'backlog' or was == 'inbox') and 0.9 or 1
local reason = ''
if ARGV[2] == 'full' or ARGV[2] == 'keep' and was == 'memory' then
    reason = 'memory'
elseif open + jobs >= share * tonumber(ARGV[5]) then
    reason = 'backlog'
elseif jobs >= share * tonumber(ARGV[6]) or bytes >= share * tonumber(ARGV[7]) then
    reason = 'inbox'
end
local is_trickle = ARGV[3] == '1' or reason == 'memory'
if is_trickle and not old[2] then call('HSET', admission, 'trickle', '1') end
if old[2] and not is_trickle then call('HDEL', admission, 'trickle') end
if old[4] then reason = old[4] == 'closed' and 'operator' or '' end
return { reason, set_full(was, reason), open, jobs, batches }
