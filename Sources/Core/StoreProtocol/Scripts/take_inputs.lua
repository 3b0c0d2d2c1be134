#!lua flags=allow-oom
-- Takes inputs from a list that producers write, for one coordinator at a time.
--
-- Uses  base, events, records, refusal_counts, inputs
-- KEYS  1 prefix
-- ARGV  1 intake token; 2 name of the list: devices, campaigns, done or rewards; 3 maximum inputs; 4 maximum bytes; 5 maximum bytes of one
--       input; 6 name of the process that tries the first taken input alone, or ""; 7 how many processes may try an input
-- Reply [step, inputs refused here, inputs…]
-- Fence the intake's token.
-- OOM   allowed: the call moves inputs from one list to another.
-- Again the inputs are in the list of taken inputs, and the reply begins with the inputs of the first call.
--
-- The name of the list of taken inputs is the name of the list and `_taken`. If there are inputs to take, the reply contains at
-- least one input, even if this exceeds the maximum bytes. An input of more than ARGV[5] bytes is never returned. The script
-- refuses such an input in the list, or as the first taken input, at most 64 inputs in a call. If other taken inputs come before
-- such an input, the input waits until the other inputs are finished.
--
-- After a crash, the taken inputs are tried one by one, and the list is not read. A process that survives a try makes its next
-- call without a name, and this call resets the number of tries. An input that ARGV[7] processes tried without surviving is
-- refused as poison.
if call('HGET', P .. 'owners', 'intake') ~= ARGV[1] then return { err = 'FENCED intake' } end
local most, bytes, limit = tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
local inbox, t, refused = P .. ARGV[2], now(), 0
local state = call('HMGET', INPUTS, 'step', 'tries', 'tried_by')
local reply, sum, process = { tonumber(state[1] or '0') or 0, 0 }, 0, ARGV[6]
report_pending_inputs(t)

local function has_room() return #reply - 2 < most and (#reply == 2 or sum < bytes) and refused < 64 end

local function give(input)
    reply[#reply + 1] = input
    sum = sum + #input
end

local function refuse(input, position, reason)
    refused = refused + 1
    increment(INPUTS, 'finished', 1)
    note_refused_input(string.format('%d', t), '', SUBJECT, position, reason, input)
end

local function refuse_large(input) refuse(input, limit, 'larger than ' .. limit .. ' bytes: ' .. #input) end

if process ~= '' then
    most = math.min(most, 1)
    local tries = tonumber(state[2] or '0') or 0
    if state[3] ~= process and call('EXISTS', INPUTS_TAKEN) == 1 then
        if tries >= tonumber(ARGV[7]) then
            forget_tries()
            refuse(call('LPOP', INPUTS_TAKEN), 0, 'poison')
            most = 0
        else
            call('HSET', INPUTS, 'tries', tries + 1, 'tried_by', process)
        end
    end
elseif state[3] then
    forget_tries()
end

-- Reads the inputs that are taken. A few at a time are read, because inputs may be large.
local CHUNK, at, is_behind = 50, 0, false
while has_room() and not is_behind do
    local inputs = call('LRANGE', INPUTS_TAKEN, at, at + CHUNK - 1)
    if #inputs == 0 then break end
    for _, input in ipairs(inputs) do
        if not has_room() then break end
        if #input <= limit then
            give(input)
            at = at + 1
        elseif at == 0 then
            call('LPOP', INPUTS_TAKEN)
            refuse_large(input)
        else
            is_behind = true
            break
        end
    end
end

while has_room() and not is_behind and process == '' do
    local input = call('LMOVE', inbox, INPUTS_TAKEN, 'LEFT', 'RIGHT')
    if not input then break end
    if #input > limit then
        call('LTRIM', INPUTS_TAKEN, 0, -2)
        refuse_large(input)
    else
        give(input)
    end
end
reply[2] = refused
return reply
