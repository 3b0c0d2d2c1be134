-- The basics of each script of an app: the key prefix, Redis's clock, and numbers as text.
--
-- KEYS[1] is the app's prefix "{pushfarm:APP}:". All other keys start with it, so that all keys of a script are in one slot.
-- A caller cannot know the keys of job records and of other shards in advance. All times are Redis's times.

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
