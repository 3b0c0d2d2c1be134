-- The suspicion that a push of a batch crashes workers.

-- The suspicion of a batch, "suspect,group,alone,crashes,kills,culprit,times,unsent"; "" when there is none.
-- Positions up to `suspect` were in flight when a worker was lost; if `alone` (1) they go `group` at a time, with
-- nothing else of the worker in flight. `crashes` and `kills` in a row had them among their suspects; the last `times`
-- had the one suspect `culprit`. `unsent` crashes in a row came before anything was sent.
local SUSPICION_FIELDS = { 'suspect', 'group', 'alone', 'crashes', 'kills', 'culprit', 'times', 'unsent' }

local function load_suspicion(text)
    local c, i = {}, 1
    for n in text:gmatch('%d+') do
        -- A ninth number is ignored: an error here would keep all batches of a lost worker.
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
