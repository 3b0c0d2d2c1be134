#!lua flags=allow-oom
-- Counts the first rewards of devices of a campaign.
--
-- Uses  base, events, records, pauses, finishing, campaigns
-- KEYS  1 prefix
-- ARGV  1 intake token; 2 campaign; then for each chunk: its key without the prefix, number of devices, and for each device its
--       ordinal from 0 to 65535, the field of the device's variant, and the reward in thousandths
-- Reply the number of devices with a first reward; -1 if the campaign has no record
-- Fence the intake's token. OOM allowed: a chunk takes 8 KiB.
-- Again the devices have a bit already, and nothing happens. So the first reward of a device counts once.
--
-- A chunk has 65,536 bits and is stored densely. If the campaign's record expires, its bits expire at the same time.
if call('HGET', P .. 'owners', 'intake') ~= ARGV[1] then return { err = 'FENCED intake' } end
local BYTES, campaign, counted, i = 8192, campaign_key(ARGV[2]), 0, 3
if call('EXISTS', campaign) == 0 then return -1 end
local rest = call('PTTL', campaign)
while i < #ARGV do
    local key = P .. ARGV[i]
    -- A key that holds anything else than a dense chunk is replaced.
    if redis.pcall('STRLEN', key) ~= BYTES then
        call('DEL', key)
        call('SETBIT', key, 8 * BYTES - 1, 0)
    end
    local last = i + 1 + 3 * tonumber(ARGV[i + 1])
    for k = i + 2, last, 3 do
        if call('SETBIT', key, ARGV[k], 1) == 0 then
            add_variant_number(campaign, ARGV[k + 1], ARGV[k + 2])
            counted = counted + 1
        end
    end
    if rest > 0 then call('PEXPIRE', key, rest) end
    i = last + 1
end
if counted > 0 then increment(campaign, 'rewarded', counted) end
return counted
