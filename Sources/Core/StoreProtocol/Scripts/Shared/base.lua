-- What every script of an app needs: its prefix, Redis's clock, and numbers as text.
--
-- KEYS[1] is the app's prefix "{pushfarm:APP}:". Every other key is made from it, so that all keys of a script are in one slot:
-- a caller cannot know the job records and the lists of other shards. All times are Redis's.

local call = redis.call
local P = KEYS[1]

local function now()
    local t = call('TIME')
    return t[1] * 1000 + math.floor(t[2] / 1000)
end

-- Numbers are handed to Redis as text: its own conversion of a Lua number is slow.
local function make_text(all, n)
    local text = string.format('%d', n)
    all[n] = text
    return text
end

local texts = setmetatable({}, { __index = make_text })
