#!lua flags=allow-oom
-- Marks devices of a campaign as done, and counts the devices that were not marked before.
--
-- Uses  base, events, records, pauses, finishing, campaigns
-- KEYS  1 prefix
-- ARGV  1 intake token; 2 campaign; then for each chunk: its key without the prefix, number of ordinals, ordinals from 0 to 65535
-- Reply the number of newly marked devices; -1 if the campaign has no record
-- Fence the intake's token. OOM allowed: a chunk takes 8 KiB.
-- Again the devices are marked already, and nothing happens.
--
-- A chunk has 65,536 bits and is stored densely. If the campaign's record expires, its bits expire at the same time.
if call('HGET', P .. 'owners', 'intake') ~= ARGV[1] then return { err = 'FENCED intake' } end
local BYTES, campaign, marked, i = 8192, campaign_key(ARGV[2]), 0, 3
if call('EXISTS', campaign) == 0 then return -1 end
local rest = call('PTTL', campaign)
while i < #ARGV do
    local key = P .. ARGV[i]
    -- A key that holds anything else than a dense chunk is replaced.
    if redis.pcall('STRLEN', key) ~= BYTES then
        call('DEL', key)
        call('SETBIT', key, 8 * BYTES - 1, 0)
    end
    for k = i + 2, i + 1 + tonumber(ARGV[i + 1]) do
        if call('SETBIT', key, ARGV[k], 1) == 0 then marked = marked + 1 end
    end
    if rest > 0 then call('PEXPIRE', key, rest) end
    i = i + 2 + tonumber(ARGV[i + 1])
end
if marked > 0 then increment(campaign, 'done', marked) end
return marked
