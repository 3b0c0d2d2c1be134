-- Bits of a campaign's devices.
-- Uses base.

-- The size of the bits of a chunk of 65,536 devices, which are stored densely.
local BYTES = 8192

-- Sets bits that ARGV contains from 3 on: for each chunk its key without the prefix, the number of its devices, and for each
-- device `width` words, of which the first is the device's ordinal in the chunk. Calls `f` with the place of the ordinal in ARGV
-- if the bit was not set. Returns the number of bits that were not set. If the campaign's record expires, its bits expire at the
-- same time.
local function mark_devices(campaign, width, f)
    local marked, rest, i = 0, call('PTTL', campaign), 3
    while i < #ARGV do
        local key = P .. ARGV[i]
        -- A key that holds anything else than a dense chunk is replaced.
        if redis.pcall('STRLEN', key) ~= BYTES then
            call('DEL', key)
            call('SETBIT', key, 8 * BYTES - 1, 0)
        end
        local last = i + 1 + width * tonumber(ARGV[i + 1])
        for k = i + 2, last, width do
            if call('SETBIT', key, ARGV[k], 1) == 0 then
                marked = marked + 1
                f(k)
            end
        end
        if rest > 0 then call('PEXPIRE', key, rest) end
        i = last + 1
    end
    return marked
end
