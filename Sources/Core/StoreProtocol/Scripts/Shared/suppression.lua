-- The suppression list of a shard.
-- Uses base.

-- Adds a record to a shard's suppression list, which is a stream, and returns the record's id. A record starts with a letter for
-- its reason.
local function suppress(nn, record, most)
    return call('XADD', P .. 'suppressed:' .. nn, 'MAXLEN', '~', most, '*', 'r', record)
end

-- Returns whether the reason is BadDeviceToken or InvalidToken. Gateways also send these reasons for valid tokens of another
-- environment, so the guard counts these records.
local function is_guarded(record)
    local letter = record:byte()
    return letter == 66 or letter == 73
end
