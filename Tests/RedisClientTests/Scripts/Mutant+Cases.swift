extension Mutant {
    /// Faults that keep the accounting exact. The simulation cannot notice them, but the cases do.
    static let unseen = farm + letters

    private static let farm = [
        Mutant(
            .lease, "gives back what was acquired since",
            "if call('HGET', owners, ARGV[i]) == ARGV[i + 1] then", "if true then"),
        Mutant(.lease, "writes no end", "if own_count > 0 then", "if false then"),
        Mutant(
            .lease, "gives back what another has", "if owner == nonce then\n                call",
            "if true then\n                call"),
        Mutant(
            .lease, "renews what another has", "if owner == nonce then\n        own_count",
            "if owner == nonce or op == 'renew' then\n        own_count"),
        Mutant(
            .take, "takes beyond the bytes asked for", "(n == 0 or sum < bytes)", "true"),
        Mutant(.take, "keeps a job that is too large", "drop_taken(1, suspects > 0 and suspects)"),
        Mutant(.take, "takes what is too large", "if #job > limit then", "if false then"),
        Mutant(.take, "keeps one of the inbox that is too large", "call('LTRIM', taken, 0, -2)"),
        Mutant(
            .take, "gives a taken job that is too large", "if #job <= limit or is_head",
            "if true or is_head"),
        Mutant(
            .settle, "takes every job for one of one push",
            "redis.pcall('HGET', job_record, 'accepted') == '1'",
            "true"
        ),
        Mutant(.settle, "books a job of one push again", "elseif delivered[id] == 1 then", "else"),
        Mutant(.take, "refuses a job that is split in part", "or is_head and is_cut then", "then"),
        Mutant(
            .refuse, "keeps no original", "    words[#words + 1], words[#words + 2] = 'original', original\n",
            "\n"),
        Mutant(.refuse, "counts no refused job", "increment(REFUSALS, what, 1)"),
        Mutant(.refuse, "keeps a duplicate", "if ARGV[10] == 'duplicate' then", "if false then"),
        Mutant(
            .appState, "forgets an app that a coordinator has", "< tonumber(ARGV[2]) then return 0",
            "< 0 then return 0"),
        Mutant(.appState, "tells of no flood's end", "\nreport_pending_refusals(moment)\n", "\n"),
        Mutant(.split, "keeps no warning", "if warning ~= '' then words", "if false then words"),
        Mutant(.refuse, "lets the rest of a cut job be", "fail_rest(head, offset, rest, stamp, keep)"),
        Mutant(
            .intakeCrash, "holds an end against a job twice", "call('HSET', intake, 'last_crash', ARGV[2])"),
        Mutant(
            .intakeCrash, "forgets the end", "call('HSET', intake, 'suspect_step', step, 'crashes', ends)"),
        Mutant(
            .intakeCrash, "refuses too early", "if ends < tonumber(ARGV[4]) then",
            "if ends + 1 < tonumber(ARGV[4]) then"),
        Mutant(
            .split, "takes another step for this one", "if step == done and last[2] == what then",
            "if step == done then"),
        Mutant(
            .split, "forgets its step", "call('HSET', intake, 'step', step, 'did', what)"),
        Mutant(.refuse, "forgets its step", "call('HSET', intake, 'step', step, 'did', what)"),
        Mutant(.split, "leaves the job taken", "if ARGV[3] ~= '0' then drop_taken(ARGV[3], last[3]) end"),
        Mutant(
            .split, "rings no bell", "wakes[nn] = true\n    end\nend\n\nif #states",
            "end\nend\n\nif #states"),
        Mutant(.split, "does not wait for the start", "if due > t then", "if false then"),
        Mutant(
            .checkout, "begins at the end of the list", "in_flight, 'LEFT', 'RIGHT')",
            "in_flight, 'RIGHT', 'RIGHT')"),
        Mutant(.checkout, "grants more than the credit", "math.min(limit, before + credit)", "limit"),
        Mutant(
            .checkout, "numbers no deliveries", "worker, s.deliveries + 1, before",
            "worker, s.deliveries, before"),
        Mutant(.report, "forgets the lane", ", 'l', id:match('%.(%a)'))", ")"),
        Mutant(
            .report, "counts as waiting what is not", "if call('ZSCORE', P .. 'delayed', id) then",
            "if false then"),
        Mutant(.report, "leaves a batch parked", "call('LREM', P .. 'paused', 1, id)"),
        Mutant(
            .putback, "puts batches to the end", "return_batch(ready_list(id), id)",
            "call('RPUSH', (ready_list(id)), id)"),
        Mutant(.putback, "puts a younger batch first", "if not m or m > moment", "if true or m > moment"),
        Mutant(.putback, "rings no bell", "if moved > 0 then", "if false then"),
        Mutant(.quarantine, "leaves the credit", "s.worker, s.granted = '', 0", "s.worker = ''"),
        Mutant(
            .checkout, "gives what another worker has", "if s and s.worker == worker then give",
            "if s then give"),
        Mutant(.quarantine, "forgets what was in flight", "add_to_records(sums, 'in_flight', -1)"),
        Mutant(.quarantine, "tells nobody", "add_event('batch.quarantined'", "tostring('batch.quarantined'"),
        Mutant(.resume, "leaves what is held against a batch", "        s.suspicion = ''\n"),
        Mutant(
            .reclaim, "puts batches to the end", "return_batch(ready_list(id), id)",
            "call('RPUSH', (ready_list(id)), id)"),
        Mutant(
            .reclaim, "forgets the suspects' place", "c.suspect, c.alone, c.group = s.granted, 1, c",
            "c.alone, c.group = 1, c"),
        Mutant(
            .reclaim, "trusts a host that forgot", "kills ~= c.kills + 1", "kills > c.kills + 1"),
        Mutant(.reclaim, "fails a suspect too early", "c.crashes >= most", "c.crashes + 1 >= most"),
        Mutant(.reclaim, "blames nobody for what is lost", "loss == 'crash' and was_lost", "false"),
        Mutant(
            .reclaim, "trips over what nobody can read", "not pcall(each_segment, body, function() end)",
            "false"),
        Mutant(.checkout, "trips over what nobody can read", "not pcall(sum_open, counts, body, s)", "false"),
        Mutant(
            .resume, "trips over what nobody can read", "s and body and pcall(each_segment, body,",
            "s and body and each_segment(body,"),
        Mutant(.settle, "leaves an ended job quarantined", "    remove_marks(job)\n"),
        Mutant(.reclaim, "quarantines no job", "if n >= job_limit and", "if false and"),
        Mutant(.reclaim, "parks no batch", "return c.unsent >= unsent_limit", "return false"),
        Mutant(.settle, "acknowledges nothing", "if #acks > 0 then", "if false then"),
        Mutant(
            .settle, "keeps an account for ever", "call('EXPIRE', job_record, keep)\n"),
        Mutant(.settle, "keeps no dead tokens", "                suppress_token(nn, record, isScreened)", ""),
        Mutant(.settle, "never thinks of the environment", "bad >= PAUSE * answers", "false"),
        Mutant(.settle, "never holds a suppression back", "bad > HOLD * answers", "false"),
        Mutant(.settle, "holds what is kept for ever", "bad < 0.8 * HOLD * answers", "false"),
        Mutant(.settle, "takes a screening for a campaign", "if mark == '' then", "if true then"),
        Mutant(.settle, "lets a screening suppress all", "before >= PAUSE * all", "false"),
        Mutant(.settle, "lets a screening of a wrong topic go on", "topic >= PAUSE * all", "false"),
        Mutant(.unconfirmed, "applies what is not due", "state ~= 'release' then", "false then"),
        Mutant(.unconfirmed, "applies what is discarded", "op ~= 'discard'", "true"),
        Mutant(.unconfirmed, "tells of no token", "if parts[4] then add_event", "if false then add_event"),
        Mutant(.unconfirmed, "confirms once only", "call('HSET', guard, 'state', 'confirmed')"),
        Mutant(
            .settle, "thinks of the environment too early", "answers >= WINDOW and bad >= PAUSE",
            "bad >= PAUSE"
        ),
        Mutant(.settle, "takes nothing back", "            redis.pcall('XDEL', list, id)\n", ""),
        Mutant(
            .settle, "does not say what it takes back", "call('HINCRBY', P .. 'suppression', 'taken_back', 1)"
        ),
        Mutant(.settle, "suppresses what is in doubt", "and (is_tripped or paused) then", "and paused then"),
        Mutant(
            .settle, "suppresses while the app is paused", "and (is_tripped or paused) then",
            "and is_tripped then"),
        Mutant(
            .settle, "keeps no bad token in mind", "            call('RPUSH', P .. 'unproven'",
            "            tostring('RPUSH', P .. 'unproven'"),
        Mutant(
            .settle, "counts an answer twice", "answered = answered + entry.answers",
            "answered = answered + 2 * entry.answers"),
        Mutant(.feedback, "lets two read at once", "return { 0, busy } end", "tostring(busy) end"),
        Mutant(.feedback, "reads before it is due", "return { 0, wait } end", "tostring(wait) end"),
        Mutant(.feedback, "ends another's reading", "if old[1] ~= ARGV[2] then return 0 end", ""),
        Mutant(.feedback, "forgets why it failed", "call('HSET', feedback, 'error', ARGV[5])", ""),
        Mutant(.suppress, "does a step twice", ">= tonumber(ARGV[3]) then", "< 0 then"),
        Mutant(.suppress, "rings no bell", "if #wakes > 0 then", "if false then"),
        Mutant(.suppress, "forgets where the list ends", "call('HSET', suppression, nn, id)"),
        Mutant(.promoteDue, "moves what is not due", "'-inf', t,", "'-inf', '+inf',"),
        Mutant(.promoteDue, "rings no bell", "wakes[nn] = true"),
        Mutant(
            .appState, "writes an event each time",
            "if old[3] or old[1] == reason and old[2] == fingerprint and not by then return 0 end"
        ),
        Mutant(.appState, "wakes nobody", "call('PUBLISH', P .. 'wakeups', '*')"),
        Mutant(.appState, "holds no intake", "if is_trickle and not old[2] then", "if false then"),
        Mutant(
            .appState, "stays full", "call('HDEL', admission, 'full', 'full_since')",
            "call('HGET', admission, 'full')"),
        Mutant(.pause, "tells nobody", "call('PUBLISH', P .. 'wakeups', 'pauses')"),
        Mutant(
            .pause, "does not say that it changed", "call('HINCRBY', P .. 'admission', 'pause_changes', 1)"),
        Mutant(.pause, "holds back any number", "if not make_room(key) then", "if false then"),
        Mutant(
            .pause, "forgets who is to come", "and call('EXISTS', P .. 'job:' .. entries[i]) == 0 then",
            "and false then"),
        Mutant(.pause, "calls back later than before", "> tonumber(due) then", "~= tonumber(due) then"),
        Mutant(.cancel, "ends what a worker has", "body and s.worker == '' then", "body then"),
        Mutant(
            .cancel, "forgets that it waited",
            "if isDelayed then add_to_records(open_positions, 'delayed', -1) end"),
        Mutant(
            .cancel, "leaves what is parked",
            "            else\n                call('LREM', P .. 'paused', 1, id)",
            "            else\n                tostring(id)"),
        Mutant(
            .promoteJob, "hurries others' pushes", "if count_open(other_map, 1, -1) == 0 then", "if true then"
        ),
        Mutant(.promoteJob, "rings no bell", "    wakes[nn] = true\n"),
        Mutant(.promoteJob, "counts it as waiting", "add_to_records(sums, 'delayed', -1)"),
        Mutant(.resume, "lets go what was paused", "if not is_paused(entries[i + 1]) then", "if true then"),
        Mutant(.resume, "resumes what ended workers", "(what == 'job' or is_paused(entry))", "true"),
        Mutant(
            .resume, "puts batches to the end", "return_batch(list, id)\n            wakes",
            "call('RPUSH', list, id)\n            wakes"),
        Mutant(
            .appState, "resumes what an operator has paused",
            "if ARGV[2] == 'own' and call('HEXISTS', admission, 'paused_by') == 1 then return 2 end"),
        Mutant(.appState, "pauses over an operator", "if old[3] or old[1]", "if old[1]"),
        Mutant(.appState, "forgets the door", "if old[4] then reason =", "if false then reason ="),
        Mutant(
            .checkout, "sends to a device that was put aside", "if tokens then\n        each_push_to",
            "if false then\n        each_push_to"),
        Mutant(
            .checkout, "sends what was called back", "    cancel_positions(s, body)\n    local parts",
            "    local parts"),
        Mutant(.checkout, "books nothing that it ends", "if next(cancelled_positions) then", "if false then"),
        Mutant(
            .checkout, "finishes no job that was called back",
            "if sum == tonumber(a[1]) then\n                finish_job(job, stamp, keep, a[1], delivered, failed, expired, texts",
            "if false then\n                finish_job(job, stamp, keep, a[1], delivered, failed, expired, texts"
        ),
        Mutant(
            .putback, "puts back what was called back", "if has_cancelled then cancel_positions(s, body) end"),
        Mutant(
            .split, "splits what was called back", "        cancel_positions(s, body)\n        state",
            "        state"),
        Mutant(
            .split, "does not say that its job waits", "if opens ~= '0' and pauses[1] and", "if false and"),
        Mutant(
            .settle, "tries again what was called back", "if #retried > 0 and has_cancels() then",
            "if false then"),
        Mutant(
            .settle, "forgets when it booked last",
            "changed[n + 1], changed[n + 2] = 'last_outcome_at', stamp",
            "n = n - 2"),
        Mutant(.group, "begins at the end", "'settlement', '0'", "'settlement', '$'"),
        Mutant(.compareAndSet, "puts over another's", "if stored ~= ARGV[1] then", "if false then"),
        Mutant(.compareAndSet, "keeps it for ever", "ARGV[2], 'PX', ARGV[3])", "ARGV[2])"),
        Mutant(.heartbeat, "drops no old line", "ends < now - 3600000 or", ""),
        Mutant(.alert, "raises it twice", ">= tonumber(level) then return 0 end", ">= 99 then return 0 end"),
        Mutant(.alert, "calls off what is not raised", "if not old then return 0 end", ""),
        Mutant(.ages, "forgets what is in flight", "read_age(P .. 'in_flight:' .. nn)", ""),
        Mutant(.initFarm, "founds it again", "'HSETNX', farm, 'shards'", "'HSET', farm, 'shards'"),
        Mutant(.take, "gives out a job that is known", "taken, known + n)", "taken, n)"),
        Mutant(.split, "does not count what waits", "add_to_records(sums, 'delayed', 1)"),
        Mutant(
            .reclaim, "takes back from the living", "(not every and named[s.worker])", "(not every)"),
    ]
}
