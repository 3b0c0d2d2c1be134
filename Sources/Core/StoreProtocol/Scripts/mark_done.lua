#!lua flags=allow-oom
-- Marks devices of a campaign as done, and counts the devices that were not marked before.
--
-- Uses  base, events, records, pauses, finishing, campaigns, campaign_devices
-- KEYS  1 prefix
-- ARGV  1 intake token; 2 campaign; then for each chunk: its key without the prefix, number of ordinals, ordinals from 0 to 65535
-- Reply the number of newly marked devices; -1 if the campaign has no record
-- Fence the intake's token. OOM allowed: a chunk takes 8 KiB.
-- Again the devices are marked already, and nothing happens.
if call('HGET', P .. 'owners', 'intake') ~= ARGV[1] then return { err = 'FENCED intake' } end
local campaign = campaign_key(ARGV[2])
if call('EXISTS', campaign) == 0 then return -1 end
local marked = mark_devices(campaign, 1, function() end)
if marked > 0 then
    increment(campaign, 'done', marked)
    count_in_time(campaign, 'done_at', marked, now())
end
return marked
