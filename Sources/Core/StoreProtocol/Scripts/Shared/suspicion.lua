-- Suspicion: what crashes of workers say against a batch.

-- What is held against a batch, "suspect,group,careful,crashes,kills,culprit,times,unsent"; "" when nothing is.
-- Positions up to `suspect` were in the air when a worker was lost; if `careful` (1) they go `group` at a time, with
-- nothing else of the worker in the air. `crashes` and `kills` in a row had them among their suspects; the last `times`
-- had the one suspect `culprit`. `unsent` crashes in a row came before anything was sent.
local CAUTION = { 'suspect', 'group', 'careful', 'crashes', 'kills', 'culprit', 'times', 'unsent' }

local function load_caution(text)
    local c, i = {}, 1
    for n in text:gmatch('%d+') do
        -- A ninth number is nobody's: an error here would keep all that a lost worker held.
        if i > 8 then break end
        c[CAUTION[i]] = tonumber(n)
        i = i + 1
    end
    for k = i, 8 do c[CAUTION[k]] = 0 end
    return c
end

local function caution_text(c)
    if c.suspect == 0 and c.unsent == 0 then return '' end
    return string.format('%d,%d,%d,%d,%d,%d,%d,%d', c.suspect, c.group, c.careful, c.crashes, c.kills, c.culprit,
        c.times, c.unsent)
end
