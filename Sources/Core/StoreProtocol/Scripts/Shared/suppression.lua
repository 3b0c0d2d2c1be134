-- The suppression list of a shard.
-- Uses base.

-- A shard's suppression list is a stream of records, whose first byte is a letter. Adds one; returns its place.
local function suppress(nn, record, most)
    return call('XADD', P .. 'suppressed:' .. nn, 'MAXLEN', '~', most, '*', 'r', record)
end

-- A gateway says the same of tokens of another environment: BadDeviceToken, InvalidToken.
local function is_guarded(record)
    local letter = record:byte()
    return letter == 66 or letter == 73
end
