-- Campaigns whose content the pushes of another campaign's step contain.
-- Uses base, records, pauses, campaigns.

-- Returns the merged campaigns of a step: for each campaign the id, the last step, and the place in ARGV and the numbers of its
-- fields and counts. `i` is the place of the step's events, which the batches and then the merged campaigns follow.
local function read_merged(i, events, batches, number)
    for _ = 1, tonumber(events) do i = i + 1 + tonumber(ARGV[i]) end
    i = i + 5 * batches
    local found = {}
    for k = 1, number do
        local fields, counts = tonumber(ARGV[i + 3]), tonumber(ARGV[i + 4])
        found[k] = {
            id = ARGV[i], step = tonumber(ARGV[i + 1]), name = ARGV[i + 2], first = i + 5, fields = fields, counts = counts,
        }
        i = i + 5 + 2 * fields + 2 * counts
    end
    return found
end

-- Returns whether the content of a campaign may be sent now, and the campaign's last step is that of `other`.
local function may_merge(other, t)
    local record = call('HMGET', campaign_key(other.id), 'step', 'did', 'state')
    if record[3] ~= 'running' or (tonumber(record[1] or '0') or 0) ~= other.step or (record[2] or '') ~= other.name
        or pause_of(other.id) then
        return false
    end
    local entry = cancel_of(other.id)
    return not (entry and tonumber(entry:match('^%d+ (%d+)')) <= t)
end

-- Stores the fields of a merged campaign, adds its counts, and raises its step, which gets the name of the step that merges. If
-- Redis loses this change, the campaign has an earlier step, so a step that was prepared with the lost bits is refused.
local function store_merged(other, name, t)
    local key, i = campaign_key(other.id), other.first
    call('HSET', key, 'step', other.step + 1, 'did', name)
    for _ = 1, other.fields do
        call('HSET', key, ARGV[i], ARGV[i + 1])
        i = i + 2
    end
    for _ = 1, other.counts do
        increment(key, ARGV[i], ARGV[i + 1])
        if ARGV[i]:find('^merged:') then count_in_time(key, 'sent_at', ARGV[i + 1], t) end
        i = i + 2
    end
end
