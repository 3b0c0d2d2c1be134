-- Dead letters: a stream of (job, reason, status, pushes, body), and a hash of what is in it, `pushes` and `bytes`; `trimmed`:
-- pushes that had to go before anybody asked for them.
-- Uses base, records.
local LETTERS, LETTER_SUMS = P .. 'dead_letters', P .. 'dead_letter_counts'
local SUM_NAMES = { 'pushes', 'bytes', 'trimmed', 'audit' }
local function check_letters()
    call('XLEN', LETTERS)
    call('XLEN', P .. 'audit')
    for k, n in ipairs(call('HMGET', LETTER_SUMS, unpack(SUM_NAMES))) do
        if n and (#n > 16 or not n:match('^%-?%d+$')) then reset_field(LETTER_SUMS, SUM_NAMES[k], n) end
    end
end

local function bury_letter(job, reason, status, pushes, body)
    call('XADD', LETTERS, '*', 'j', job, 'r', reason, 's', status, 'n', pushes, 'b', body)
    call('HINCRBY', LETTER_SUMS, 'pushes', pushes)
    call('HINCRBY', LETTER_SUMS, 'bytes', #body)
end

-- Takes a letter as XRANGE gives it out of the books; what is no letter counts for nothing. Returns its pushes, or nil when
-- another owner has it.
local function take_letter(letter)
    if call('XDEL', LETTERS, letter[1]) == 0 then return nil end
    local pushes, body = tonumber(letter[2][8] or '0') or 0, letter[2][10] or ''
    call('HINCRBY', LETTER_SUMS, 'pushes', texts[-pushes])
    call('HINCRBY', LETTER_SUMS, 'bytes', texts[-#body])
    return pushes
end

-- Drops the oldest letters, `steps` of them at most: those from before the moment `from`, and until no more than so many
-- pushes and bytes are left. Returns whether there are more to drop.
local function trim_letters(pushes, bytes, from, steps)
    local trimmed, hasMore = 0, true
    for _ = 1, steps do
        local sums = call('HMGET', LETTER_SUMS, 'pushes', 'bytes')
        local oldest = call('XRANGE', LETTERS, '-', '+', 'COUNT', 1)[1]
        local isOver = tonumber(sums[1] or '0') > pushes or tonumber(sums[2] or '0') > bytes
        if not oldest or not isOver and tonumber(oldest[1]:match('^%d+')) >= from then
            hasMore = false
            break
        end
        trimmed = trimmed + (take_letter(oldest) or 0)
    end
    if trimmed > 0 then call('HINCRBY', LETTER_SUMS, 'trimmed', trimmed) end
    return hasMore
end

-- The audit: a stream of what became of pushes, and how many bytes are in it, in the same hash. An entry costs some more
-- than its bytes.
local AUDIT, AUDIT_EXTRA = P .. 'audit', 100
local function trim_audit(bytes, from, steps)
    for _ = 1, steps do
        local oldest = call('XRANGE', AUDIT, '-', '+', 'COUNT', 1)[1]
        if not oldest then
            call('HDEL', LETTER_SUMS, 'audit')
            return false
        end
        local sum = tonumber(call('HGET', LETTER_SUMS, 'audit') or '0')
        if sum <= bytes and tonumber(oldest[1]:match('^%d+')) >= from then return false end
        call('XDEL', AUDIT, oldest[1])
        call('HINCRBY', LETTER_SUMS, 'audit', -AUDIT_EXTRA - #oldest[2][2])
    end
    return true
end

local function remember(record, most)
    if #record + AUDIT_EXTRA > most then return end
    call('XADD', AUDIT, '*', 'a', record)
    if call('HINCRBY', LETTER_SUMS, 'audit', #record + AUDIT_EXTRA) > most then trim_audit(most, 0, 64) end
end
