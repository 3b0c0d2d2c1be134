#!lua flags=allow-oom
-- Lets parked batches go on, as if they had never crashed a worker.
--
-- KEYS  1 prefix
-- ARGV  1 batches at most
-- Reply batches put back
-- Fence none: each id is moved by whoever pops it. OOM allowed.
-- Again the list is shorter or empty.
local moved, rung = 0, {}
for _ = 1, tonumber(ARGV[1]) do
    local id = call('LPOP', P .. 'parked')
    if not id then break end
    local s = load_state(id)
    if s then
        s.crashes, s.culprit, s.suspect = 0, 0, 0
        save_state(id, s)
        local list, nn = ready_list(id)
        call('RPUSH', list, id)
        rung[nn] = true
        moved = moved + 1
    end
end
ring(rung)
return moved
