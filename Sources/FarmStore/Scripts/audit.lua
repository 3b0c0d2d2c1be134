#!lua flags=no-writes,allow-oom
-- Checks the books of an app: every batch in one place, every account equal to what is there.
--
-- KEYS  1 prefix
-- ARGV  1 shards of the farm; 2 part: all, or NN (the lists of this shard), or rest (what is in no shard's lists)
-- Reply all: faults in words; empty when all is well
--       a part: [faults, [job, open, in flight, waiting…], [batch ids seen]]
-- Fence none: it only reads. Again the same answer.
-- Atomic what one call looks at: "all" is one moment of the whole app, a part one moment of its lists. Sums over parts
-- are sums of several moments: when they do not add up, "all" decides.
-- Takes time in proportion to what it looks at, "all" to all that is queued and all accounts: for tests and for an
-- operator who asks, not for a timer.
local part = ARGV[2] or 'all'
if part ~= 'all' then
    if part == 'rest' then count_rest() else count_shard(part) end
    local sums, ids = {}, {}
    for job, n in pairs(open) do
        for _, word in ipairs({ job, n, flying[job] or 0, waiting[job] or 0 }) do sums[#sums + 1] = word end
    end
    for id in pairs(seen) do ids[#ids + 1] = id end
    return { faults, sums, ids }
end

count_all(tonumber(ARGV[1]))
local known = {}
for _, job in ipairs(call('ZRANGE', P .. 'jobs', 0, -1)) do
    local account, a = P .. 'job:' .. job, {}
    local flat = call('HGETALL', account)
    for i = 1, #flat, 2 do a[flat[i]] = flat[i + 1] end
    if a.state then
        known[job] = true
        local function n(name) return tonumber(a[name] or '0') end
        local ended = n('delivered') + n('failed') + n('expired') + n('cancelled')
        local sum = ended + (open[job] or 0) + unsplit(job, n('accepted'))
        if sum ~= n('accepted') then say('job', job, 'accepted', n('accepted'), 'and has', sum) end
        if n('in_flight') ~= (flying[job] or 0) then say('job', job, 'in_flight', n('in_flight'), 'of', flying[job] or 0) end
        if n('waiting') ~= (waiting[job] or 0) then say('job', job, 'waiting', n('waiting'), 'of', waiting[job] or 0) end
        if (a.state == 'finished') ~= (ended == n('accepted')) then say('job', job, 'is', a.state, 'with', ended) end
        local reasons = 0
        for k, v in pairs(a) do if k:sub(1, 7) == 'reason:' then reasons = reasons + tonumber(v) end end
        if reasons > n('failed') then say('job', job, 'has more reasons than failures') end
    end
end
local load, total = tonumber(call('HGET', P .. 'load', 'open') or '0'), 0
for _, n in pairs(open) do total = total + n end
if load ~= total then say('load', load, 'of', total, 'open') end
for job, n in pairs(open) do if n > 0 and not known[job] then say('job', job, 'has', n, 'open and no account') end end
return faults
