#!lua flags=allow-oom
-- Counts the first rewards of devices of a campaign.
--
-- Uses  base, events, records, pauses, finishing, campaigns, campaign_devices
-- KEYS  1 prefix
-- ARGV  1 intake token; 2 campaign; then for each chunk: its key without the prefix, number of devices, and for each device its
--       ordinal from 0 to 65535, the field of the device's variant, and the reward in thousandths
-- Reply the number of devices with a first reward; -1 if the campaign has no record
-- Fence the intake's token. OOM allowed: a chunk takes 8 KiB.
-- Again the devices have a bit already, and nothing happens. So the first reward of a device counts once.
if call('HGET', P .. 'owners', 'intake') ~= ARGV[1] then return { err = 'FENCED intake' } end
local campaign = campaign_key(ARGV[2])
if call('EXISTS', campaign) == 0 then return -1 end
local counted = mark_devices(campaign, 3, function(k) add_variant_number(campaign, ARGV[k + 1], ARGV[k + 2]) end)
if counted > 0 then increment(campaign, 'rewarded', counted) end
return counted
