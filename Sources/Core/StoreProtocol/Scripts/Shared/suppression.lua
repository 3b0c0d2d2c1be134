-- The suppression list of a shard.
-- Uses base.

-- A shard's suppression list is a stream of records. Each record starts with a letter. Adds a record and returns its id.
local function suppress(nn, record, most)
    return call('XADD', P .. 'suppressed:' .. nn, 'MAXLEN', '~', most, '*', 'r', record)
end

-- Gateways also send these reasons for tokens of another environment: BadDeviceToken, InvalidToken. The guard counts them.
local function is_guarded(record)
    local letter = record:byte()
    return letter == 66 or letter == 73
end
