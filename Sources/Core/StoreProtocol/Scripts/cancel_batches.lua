#!lua flags=allow-oom
-- Cancels pushes of cancelled jobs, in batches that no worker has checked out.
--
-- Uses  base, events, records, pauses, finishing, batches, cancelling, paused_positions
-- KEYS  1 prefix
-- ARGV  ids of batches
-- Reply [batches examined, pushes cancelled, batches that ended because no push in them is open]
-- Fence none: a position is closed only once. OOM allowed.
-- Again the positions are closed already, and nothing happens.
--
-- The script examines as many batches as fit into its time limit, and at least one. It estimates the time for each batch in units
-- of 0.25 µs: to read the batch's table and, if no push in the batch is open any more, to remove the batch from its list. Pushes
-- in checked-out batches are cancelled later: the coordinators order the workers to return these batches, and `putback` cancels
-- the pushes.
local MOST, spent, looked, gone = 12000, 0, 0, 0
for _, id in ipairs(ARGV) do
    if spent > MOST then break end
    looked = looked + 1
    local s, body = load_state(id), call('HGET', BODIES, id)
    local isRead, open_positions = false, nil
    spent = spent + 20
    if s and body and s.worker == '' then
        isRead, open_positions = pcall(cancel_positions, s, body)
        spent = spent + 20 + #body / 256 + (isRead and 4 * (body:byte(2) * 256 + body:byte(3)) or 0)
    end
    if isRead and open_positions then
        local isDelayed = call('ZSCORE', P .. 'delayed', id)
        if isDelayed then add_to_records(open_positions, 'delayed', -1) end
        if s.open > 0 then
            save_state(id, s)
        else
            gone = gone + 1
            spent = spent + 40 + (call('LLEN', (ready_list(id))) + call('LLEN', P .. 'paused')) / 16
            local isOut = isDelayed and call('ZREM', P .. 'delayed', id) or call('LREM', (ready_list(id)), 1, id)
            if isOut == 1 then
                end_or_pause(id, s)
            elseif s.map:find('p', 1, true) then
                gone = gone - 1
                save_state(id, s)
            else
                call('LREM', P .. 'paused', 1, id)
                drop_batch(id)
            end
        end
    end
end
return { looked, count_cancelled(), gone }
