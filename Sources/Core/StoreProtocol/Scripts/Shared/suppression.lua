-- The suppression list of a shard.
-- Uses base.

-- The letters of the reasons with which gateways and the feedback service report an invalid token, without
-- DeviceTokenNotForTopic: BadDeviceToken, Unregistered, ExpiredToken, InvalidToken, InvalidTokenSize, Feedback.
local INVALID = { [66] = true, [85] = true, [69] = true, [73] = true, [83] = true, [70] = true }
local MOST_REPORTED = 100000
local has_registry

-- Adds an input to the app's device inputs, so that the intake removes the record's token from its stored device. An app without
-- stored devices, and an app with very many device inputs, gets no input. A key of the wrong type changes nothing.
local function report_invalid(record)
    if has_registry == nil then has_registry = redis.pcall('HLEN', P .. 'registry') end
    if type(has_registry) ~= 'number' or has_registry == 0 or not INVALID[record:byte()] or #record < 10 then return end
    local inputs = redis.pcall('LLEN', P .. 'devices')
    if type(inputs) ~= 'number' or inputs >= MOST_REPORTED then return end
    local time = struct.unpack('>I4', record, 6)
    local token = record:sub(10):gsub('.', function(c) return string.format('%02x', c:byte()) end)
    call('RPUSH', P .. 'devices', string.format('{"invalid":"%s","at":%d}', token, time))
end

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
