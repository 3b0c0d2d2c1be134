-- The basics of each script of an app: the key prefix, Redis's clock, and numbers as text.
--
-- KEYS[1] is the app's prefix "{pushfarm:APP}:". The scripts build all other keys from this prefix, so that all keys of a script
-- are in one slot. Callers do not pass these keys, because they cannot know in advance which job records and shards a script
-- uses. All times are Redis's times.

local call = redis.call
local P = KEYS[1]

local function now()
    local t = call('TIME')
    return t[1] * 1000 + math.floor(t[2] / 1000)
end

-- Numbers are passed to Redis as text, because Redis converts Lua numbers slowly.
local function make_text(all, n)
    local text = string.format('%d', n)
    all[n] = text
    return text
end

local texts = setmetatable({}, { __index = make_text })
