-- Dead letters are a stream of (job, reason, status, pushes, body). A hash contains their total `pushes` and `bytes`. Its field
-- `trimmed` counts the pushes that cannot be replayed any more, because their dead letters were trimmed.
-- Uses base, records.
local DEAD_LETTERS, DEAD_LETTER_COUNTS = P .. 'dead_letters', P .. 'dead_letter_counts'
local COUNT_NAMES = { 'pushes', 'bytes', 'trimmed', 'audit' }
local function check_dead_letters()
    call('XLEN', DEAD_LETTERS)
    call('XLEN', P .. 'audit')
    for k, n in ipairs(call('HMGET', DEAD_LETTER_COUNTS, unpack(COUNT_NAMES))) do
        if n and (#n > 16 or not n:match('^%-?%d+$')) then reset_field(DEAD_LETTER_COUNTS, COUNT_NAMES[k], n) end
    end
end

local function add_dead_letter(job, reason, status, pushes, body)
    call('XADD', DEAD_LETTERS, '*', 'j', job, 'r', reason, 's', status, 'n', pushes, 'b', body)
    call('HINCRBY', DEAD_LETTER_COUNTS, 'pushes', pushes)
    call('HINCRBY', DEAD_LETTER_COUNTS, 'bytes', #body)
end

-- Removes a dead letter, which is passed as XRANGE returned it. An entry in an unknown format counts as zero pushes. Returns the
-- number of pushes, or nil if the dead letter was removed before.
local function remove_dead_letter(letter)
    if call('XDEL', DEAD_LETTERS, letter[1]) == 0 then return nil end
    local pushes, body = tonumber(letter[2][8] or '0') or 0, letter[2][10] or ''
    call('HINCRBY', DEAD_LETTER_COUNTS, 'pushes', texts[-pushes])
    call('HINCRBY', DEAD_LETTER_COUNTS, 'bytes', texts[-#body])
    return pushes
end

-- Deletes dead letters that are older than the time `from`, and then the oldest dead letters until at most `pushes` pushes and
-- `bytes` bytes are left. Deletes at most `steps` dead letters. Returns whether more dead letters must be deleted.
local function trim_dead_letters(pushes, bytes, from, steps)
    local trimmed, hasMore = 0, true
    for _ = 1, steps do
        local sums = call('HMGET', DEAD_LETTER_COUNTS, 'pushes', 'bytes')
        local oldest = call('XRANGE', DEAD_LETTERS, '-', '+', 'COUNT', 1)[1]
        local isOver = tonumber(sums[1] or '0') > pushes or tonumber(sums[2] or '0') > bytes
        if not oldest or not isOver and tonumber(oldest[1]:match('^%d+')) >= from then
            hasMore = false
            break
        end
        trimmed = trimmed + (remove_dead_letter(oldest) or 0)
    end
    if trimmed > 0 then call('HINCRBY', DEAD_LETTER_COUNTS, 'trimmed', trimmed) end
    return hasMore
end

-- The audit is a stream of outcomes. The size of the audit in bytes is in the field `audit` of DEAD_LETTER_COUNTS. For each
-- entry, Redis needs AUDIT_EXTRA bytes in addition to the entry's record.
local AUDIT, AUDIT_EXTRA = P .. 'audit', 100
local function trim_audit(bytes, from, steps)
    for _ = 1, steps do
        local oldest = call('XRANGE', AUDIT, '-', '+', 'COUNT', 1)[1]
        if not oldest then
            call('HDEL', DEAD_LETTER_COUNTS, 'audit')
            return false
        end
        local sum = tonumber(call('HGET', DEAD_LETTER_COUNTS, 'audit') or '0')
        if sum <= bytes and tonumber(oldest[1]:match('^%d+')) >= from then return false end
        call('XDEL', AUDIT, oldest[1])
        call('HINCRBY', DEAD_LETTER_COUNTS, 'audit', -AUDIT_EXTRA - #oldest[2][2])
    end
    return true
end

local function add_audit_record(record, most)
    if #record + AUDIT_EXTRA > most then return end
    call('XADD', AUDIT, '*', 'a', record)
    if call('HINCRBY', DEAD_LETTER_COUNTS, 'audit', #record + AUDIT_EXTRA) > most then trim_audit(most, 0, 64) end
end
