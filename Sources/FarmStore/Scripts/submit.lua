#!lua name=pushfarm
-- version 1
-- What producers call, as a function: FCALL pushfarm_submit 1 pushfarm:APP JOB [ID]
--
-- KEYS  1 inbox
-- ARGV  1 the job, JSON; 2 its id, if the producer gave it one and wants to hear early that it is known
-- Reply [status, number, text]:
--       OK, jobs in the inbox, ""
--       BUSY, ms until it should be tried again, reason: memory | backlog | inbox
--       DUPLICATE, 0, id: a job of this id is open or younger than 24 h; nothing was pushed
--       REFUSED, bytes at most, reason: it would never be taken; nothing was pushed
-- Fence none. OOM refused by Redis itself, with an error OOM: the same as BUSY.
-- Again the job is pushed again: with an id it is refused as a duplicate, here or when it is split.
--
-- It reads what `gate` keeps up to date and what `split` and `settle` count; it sees neither JSON nor other apps.
-- Coordinators load it and replace an older version, so a version must answer what the ones before it did.
local function submit(keys, args)
    local call, inbox, job, id = redis.call, keys[1], args[1], args[2]
    if #keys ~= 1 or not job or #args > 2 or not inbox:find('^pushfarm:.') then
        return redis.error_reply('ERR usage: FCALL pushfarm_submit 1 pushfarm:APP JOB [ID]')
    end
    local prefix = '{' .. inbox .. '}:'
    local gate = call('HMGET', prefix .. 'gate', 'full', 'retry', 'max_backlog', 'max_inbox', 'max_inbox_bytes',
        'max_job_bytes')
    local most = tonumber(gate[6])
    if most and #job > most then
        return { 'REFUSED', most, 'larger than ' .. most .. ' bytes: ' .. #job }
    end
    if id and id ~= '' then
        local known = call('HMGET', prefix .. 'job:' .. id, 'state', 'created_at')
        if known[1] and (known[1] ~= 'finished' or tonumber(known[2]) > (call('TIME')[1] - 86400) * 1000) then
            return { 'DUPLICATE', 0, id }
        end
    end
    -- Spread over twice the time, so that those who wait do not come back together.
    local function busy(reason)
        local retry = tonumber(gate[2]) or 1000
        return { 'BUSY', retry + call('TIME')[2] % retry, reason }
    end
    if gate[1] then return busy(gate[1]) end
    local jobs = call('LLEN', inbox)
    local backlog, length, bytes = tonumber(gate[3]), tonumber(gate[4]), tonumber(gate[5])
    if length and jobs >= length then return busy('inbox') end
    -- An estimate from the first nodes of the list. One job goes into an empty inbox, however large.
    if bytes and jobs > 0 and call('MEMORY', 'USAGE', inbox, 'SAMPLES', '5') + #job > bytes then
        return busy('inbox')
    end
    if backlog and tonumber(call('HGET', prefix .. 'load', 'open') or '0') + jobs >= backlog then
        return busy('backlog')
    end
    return { 'OK', call('RPUSH', inbox, job), '' }
end

redis.register_function('pushfarm_submit', submit)
