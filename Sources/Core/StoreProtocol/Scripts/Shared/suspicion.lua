-- The suspicion that a push of a batch crashes workers.

-- The suspicion of a batch is "suspect,group,alone,crashes,kills,culprit,times,unsent", or "" if the batch is not suspect. Open
-- positions up to `suspect` may have been in flight when a worker exited. If `alone` is 1, these positions are sent in groups of
-- `group`, with no other push of the worker in flight. `crashes` and `kills` count the crashes and the kills in a row in which
-- these positions were suspects. In the last `times` exits, the only suspect was `culprit`. `unsent` is the number of crashes in
-- a row before any send.
local SUSPICION_FIELDS = { 'suspect', 'group', 'alone', 'crashes', 'kills', 'culprit', 'times', 'unsent' }

local function load_suspicion(text)
    local c, i = {}, 1
    for n in text:gmatch('%d+') do
        -- Ignore a ninth number, because an error here would block all batches of a lost worker.
        if i > 8 then break end
        c[SUSPICION_FIELDS[i]] = tonumber(n)
        i = i + 1
    end
    for k = i, 8 do c[SUSPICION_FIELDS[k]] = 0 end
    return c
end

local function suspicion_text(c)
    if c.suspect == 0 and c.unsent == 0 then return '' end
    return string.format('%d,%d,%d,%d,%d,%d,%d,%d', c.suspect, c.group, c.alone, c.crashes, c.kills, c.culprit,
        c.times, c.unsent)
end
