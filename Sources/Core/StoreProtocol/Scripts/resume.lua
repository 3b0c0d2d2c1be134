#!lua flags=allow-oom
-- Resumes paused batches, quarantined jobs and device tokens. Earlier crashes no longer count against resumed batches and jobs.
--
-- Uses  base, events, records, pauses, finishing, batches, cancelling, paused_positions
-- KEYS  1 prefix
-- ARGV  1 maximum number of paused batches to examine; 2 number of batches at the end of the list that earlier calls examined and
--       left; 3 job, token, or ""; 4 what: all (except jobs that an operator paused), job, paused (the job, if an operator
--       paused it), token
-- Reply [batches put back, batches examined and left, or -1 at the end, jobs resumed, device tokens resumed]
-- Fence none: the call that finds an id in the list moves it. OOM allowed.
-- Again the job is no longer quarantined, and its batches are no longer paused.
--
-- A batch that cannot be read stays in `paused`, where `fsck` can repair it. If a batch has paused positions but is not in
-- `paused`, these positions are opened later: at the batch's next checkout, or when the batch has no open positions left. The
-- script resumes from the end of `paused` and puts each batch into its ready list by age, so the oldest batch is sent next.
local most, kept, name, what, jobs, tokens = tonumber(ARGV[1]), tonumber(ARGV[2]), ARGV[3], ARGV[4], {}, 0
local function is_paused(entry) return entry:find('^%d+ pause ') ~= nil end
if what == 'token' then
    tokens = call('HDEL', PAUSED_TOKENS, name)
elseif what ~= 'all' then
    local entry = call('HGET', PAUSED_JOBS, name)
    if entry and (what == 'job' or is_paused(entry)) then jobs[1] = name end
elseif kept == 0 then
    local entries = call('HGETALL', PAUSED_JOBS)
    for i = 1, #entries, 2 do
        if not is_paused(entries[i + 1]) then jobs[#jobs + 1] = entries[i] end
    end
    tokens = call('HLEN', PAUSED_TOKENS)
    call('DEL', PAUSED_TOKENS)
end
for _, id in ipairs(jobs) do
    call('HDEL', PAUSED_JOBS, id)
    call('HDEL', P .. 'job:' .. id, 'paused_reason', 'crashes', 'last_crash')
    -- The guard of a campaign counts from 0.
    redis.pcall('HDEL', P .. 'campaign:' .. id, 'recent')
    add_event('job.resumed', now(), 'job', id)
end
count_pauses()

local ids, moved, wakes = call('LRANGE', P .. 'paused', -kept - most, -kept - 1), 0, {}
for k = #ids, 1, -1 do
    local id = ids[k]
    local s, body = load_state(id), call('HGET', BODIES, id)
    local is_meant = what == 'all' or what == 'token'
    local isRead = s and body and pcall(each_job_part, body, function(owner) is_meant = is_meant or owner == name end)
    if isRead and is_meant and (what ~= 'token' or s.map:find('p', 1, true)) then
        pause_positions(id, s, body)
        s.suspicion = ''
        if s.open > 0 then
            local list, nn = ready_list(id)
            save_state(id, s)
            call('LREM', P .. 'paused', -1, id)
            return_batch(list, id)
            wakes[nn] = true
            moved = moved + 1
        elseif s.map:find('p', 1, true) then
            save_state(id, s)
        else
            call('LREM', P .. 'paused', -1, id)
            drop_batch(id)
            moved = moved + 1
        end
    end
end
count_cancelled()
wake(wakes)
return { moved, #ids < most and -1 or kept + #ids - moved, #jobs, tokens }
