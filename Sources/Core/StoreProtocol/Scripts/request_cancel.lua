-- The function with which producers cancel a job: FCALL pushfarm_cancel 1 pushfarm:APP ID
--
-- KEYS  1 inbox
-- ARGV  1 id of the job
-- Reply [status, number, text]:
--       OK, 0, state of the job: open, or expected (no job record, but jobs wait for the intake). A coordinator cancels the job
--       within seconds.
--       OK, 0, finished: there is nothing to cancel
--       BUSY, ms until the next try, cancels | starting: too many requests wait, or Redis was emptied
--       REFUSED, 0, reason: the app or the job is unknown
-- Fence none. OOM refused by Redis itself, with an error OOM: the same as BUSY.
-- Again a second request is stored, but it cancels nothing more.
--
-- Producers may write only to the inbox and to `cancel_requests`, so the function stores the request. The script `update_app`
-- cancels the job. The text of this file follows `submit.lua` in the same library, so this file uses the helpers of `submit.lua`.
local MOST_REQUESTS = 1000

local function cancel(keys, args)
    local inbox, job = keys[1], args[1]
    local app = inbox and inbox:match('^pushfarm:(.+)$')
    if #keys ~= 1 or not job or #args > 1 or not app then
        return redis.error_reply('ERR usage: FCALL pushfarm_cancel 1 pushfarm:APP ID')
    end
    local prefix = '{' .. inbox .. '}:'
    local retry = redis.call('HGET', prefix .. 'admission', 'retry')
    if not retry then return not_configured(app) end
    local state = redis.call('HGET', prefix .. 'job:' .. job, 'state')
    if state == 'finished' then return { 'OK', 0, state } end
    if not state then
        local may_wait = redis.call('LLEN', inbox) > 0
        for _, list in ipairs({ 'taken', 'lookups', 'campaigns', 'campaigns_taken' }) do
            -- If the Redis user may not read a list, the job may be in this list, so the function does not refuse the id.
            may_wait = may_wait or redis.pcall('LLEN', prefix .. list) ~= 0
        end
        if not may_wait then return { 'REFUSED', 0, 'unknown job "' .. plain(job) .. '"' } end
    end
    local requests = prefix .. 'cancel_requests'
    if redis.call('LLEN', requests) >= MOST_REQUESTS then
        local time, least = redis.call('TIME'), tonumber(retry) or 1000
        return { 'BUSY', least + time[2] % least, 'cancels' }
    end
    redis.call('RPUSH', requests, job)
    return { 'OK', 0, state or 'expected' }
end

redis.register_function('pushfarm_cancel', cancel)
