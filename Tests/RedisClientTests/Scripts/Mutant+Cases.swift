extension Mutant {
    /// Faults that keep the accounting exact.
    /// The simulation cannot notice these faults, but the cases of ``ScriptCase`` notice them.
    static let unseen = farm + letters + devices + lookups + invalidTokens + campaigns

    private static let farm = [
        Mutant(
            .lease, "gives back shards that were acquired since",
            "if call('HGET', owners, ARGV[i]) == ARGV[i + 1] then", "if true then"),
        Mutant(.lease, "writes no end", "if own_count > 0 then", "if false then"),
        Mutant(
            .lease, "gives back another host's shards", "if owner == nonce then\n                call",
            "if true then\n                call"),
        Mutant(
            .lease, "renews another host's lease", "if owner == nonce then\n        own_count",
            "if owner == nonce or op == 'renew' then\n        own_count"),
        Mutant(
            .take, "takes beyond the bytes asked for", "(n == 0 or sum < bytes)", "true"),
        Mutant(.take, "keeps a job that is too large", "drop_taken(1, suspects > 0 and suspects)"),
        Mutant(.take, "takes jobs that are too large", "if #job > limit then", "if false then"),
        Mutant(.take, "keeps a job of the inbox that is too large", "call('LTRIM', taken, 0, -2)"),
        Mutant(
            .take, "gives a taken job that is too large", "if #job <= limit or is_head",
            "if true or is_head"),
        Mutant(
            .settle, "treats every job as a job of one push",
            "may_be_single = a[1] == '1' and not a[2]",
            "may_be_single = true"
        ),
        Mutant(.settle, "settles a job of one push again", "elseif delivered[id] == 1 then", "else"),
        Mutant(.take, "refuses a partly split job", "or is_head and is_cut then", "then"),
        Mutant(
            .refuse, "keeps no original", "    words[#words + 1], words[#words + 2] = 'original', original\n",
            "\n"),
        Mutant(.refuse, "counts no refused job", "increment(counts, what, 1)"),
        Mutant(.refuse, "keeps a duplicate", "if ARGV[10] == 'duplicate' then", "if false then"),
        Mutant(
            .updateApp, "forgets an app that a coordinator serves", "< tonumber(ARGV[2]) then return 0",
            "< 0 then return 0"),
        Mutant(
            .updateApp, "keeps requests that it carried out",
            "if done > 0 then call('LTRIM', key, done, -1) end"),
        Mutant(
            .updateApp, "drops a request without room", "== 'full' then break end", "== '' then break end"),
        Mutant(.updateApp, "cancels nothing for producers", "\ncancel_requested()\n", "\n"),
        Mutant(.updateApp, "reports no end of a flood", "\nreport_pending_refusals(moment)\n", "\n"),
        Mutant(.split, "keeps no warning", "if warning ~= '' then words", "if false then words"),
        Mutant(
            .refuse, "does not fail the rest of a partly split job",
            "fail_rest(head, offset, rest, stamp, keep)"),
        Mutant(
            .intakeCrash, "holds an end against a job twice", "call('HSET', intake, 'last_crash', ARGV[2])"),
        Mutant(
            .intakeCrash, "forgets the end", "call('HSET', intake, 'suspect_step', step, 'crashes', ends)"),
        Mutant(
            .intakeCrash, "refuses too early", "if ends < tonumber(ARGV[4]) then",
            "if ends + 1 < tonumber(ARGV[4]) then"),
        Mutant(
            .split, "mistakes another step for this one", "if step == done and last[2] == what then",
            "if step == done then"),
        Mutant(
            .split, "forgets its step", "call('HSET', intake, 'step', step, 'did', what)"),
        Mutant(.refuse, "forgets its step", "call('HSET', intake, 'step', step, 'did', what)"),
        Mutant(.split, "leaves the job taken", "if ARGV[3] ~= '0' then drop_taken(ARGV[3], last[3]) end"),
        Mutant(
            .split, "sends no wake-up", "wakes[nn] = true\n        end\n    end\n    if #states",
            "end\n    end\n    if #states"),
        Mutant(.split, "does not wait for the start", "if due > t then", "if false then"),
        Mutant(
            .checkout, "starts at the end of the list", "in_flight, 'LEFT', 'RIGHT')",
            "in_flight, 'RIGHT', 'RIGHT')"),
        Mutant(.checkout, "grants more than the credit", "math.min(limit, before + credit)", "limit"),
        Mutant(
            .checkout, "numbers no deliveries", "worker, s.deliveries + 1, before",
            "worker, s.deliveries, before"),
        Mutant(.report, "forgets the lane", ", 'l', id:match('%.(%a)'))", ")"),
        Mutant(
            .report, "counts batches as delayed that are not", "if call('ZSCORE', P .. 'delayed', id) then",
            "if false then"),
        Mutant(.report, "leaves a batch paused", "call('LREM', P .. 'paused', 1, id)"),
        Mutant(
            .putback, "returns batches to the end of the list", "return_batch(ready_list(id), id)",
            "call('RPUSH', (ready_list(id)), id)"),
        Mutant(
            .putback, "returns a younger batch to the head", "if not m or m > moment", "if true or m > moment"
        ),
        Mutant(.putback, "sends no wake-up", "if moved > 0 then", "if false then"),
        Mutant(.quarantine, "leaves the credit", "s.worker, s.granted = '', 0", "s.worker = ''"),
        Mutant(
            .checkout, "assigns another worker's batches", "if s and s.worker == worker then give",
            "if s then give"),
        Mutant(.quarantine, "does not subtract pushes in flight", "add_to_records(sums, 'in_flight', -1)"),
        Mutant(
            .quarantine, "reports nothing", "add_event('batch.quarantined'", "tostring('batch.quarantined'"),
        Mutant(.resume, "keeps the suspicion against a batch", "        s.suspicion = ''\n"),
        Mutant(
            .reclaim, "returns batches to the end of the list", "return_batch(ready_list(id), id)",
            "call('RPUSH', (ready_list(id)), id)"),
        Mutant(
            .reclaim, "forgets the positions of the suspects",
            "c.suspect, c.alone, c.group = s.granted, 1, c",
            "c.alone, c.group = 1, c"),
        Mutant(
            .reclaim, "trusts a host that lost its count", "kills ~= c.kills + 1", "kills > c.kills + 1"),
        Mutant(.reclaim, "fails a suspect too early", "c.crashes >= most", "c.crashes + 1 >= most"),
        Mutant(.reclaim, "counts no crash for lost pushes", "loss == 'crash' and was_lost", "false"),
        Mutant(
            .reclaim, "fails at unreadable batches", "not pcall(each_job_part, body, function() end)",
            "false"),
        Mutant(.checkout, "fails at unreadable batches", "not pcall(sum_open, counts, body, s)", "false"),
        Mutant(
            .resume, "fails at unreadable batches", "s and body and pcall(each_job_part, body,",
            "s and body and each_job_part(body,"),
        Mutant(.settle, "leaves an ended job quarantined", "    remove_marks(job)\n"),
        Mutant(.reclaim, "quarantines no job", "if n >= job_limit and", "if false and"),
        Mutant(.reclaim, "quarantines no batch", "return c.unsent >= unsent_limit", "return false"),
        Mutant(.settle, "acknowledges nothing", "if #acks > 0 then", "if false then"),
        Mutant(
            .settle, "keeps a job record forever", "call('EXPIRE', job_record, keep)\n"),
        Mutant(
            .settle, "suppresses no unregistered tokens",
            "                suppress_token(nn, record, isScreened or guard)", ""),
        Mutant(.settle, "never pauses for a wrong environment", "bad >= PAUSE * responses", "false"),
        Mutant(.settle, "never holds a suppression for confirmation", "bad > HOLD * responses", "false"),
        Mutant(.settle, "holds suppressions forever", "bad < 0.8 * HOLD * responses", "false"),
        Mutant(.settle, "treats a screening as a campaign", "if mark == '' then", "if true then"),
        Mutant(.settle, "lets a screening suppress all", "before >= PAUSE * all", "false"),
        Mutant(.settle, "does not pause a screening with a wrong topic", "topic >= PAUSE * all", "false"),
        Mutant(
            .resolveUnconfirmed, "applies suppressions before they are due", "state ~= 'release' then",
            "false then"),
        Mutant(.resolveUnconfirmed, "applies discarded suppressions", "op ~= 'discard'", "true"),
        Mutant(
            .resolveUnconfirmed, "reports no token", "if parts[4] then add_event", "if false then add_event"),
        Mutant(.resolveUnconfirmed, "confirms once only", "call('HSET', guard, 'state', 'confirmed')"),
        Mutant(
            .settle, "pauses for a wrong environment too early", "responses >= WINDOW and bad >= PAUSE",
            "bad >= PAUSE"
        ),
        Mutant(.settle, "withdraws no suppression", "            redis.pcall('XDEL', list, id)\n", ""),
        Mutant(
            .settle, "does not count withdrawn suppressions",
            "call('HINCRBY', P .. 'suppression', 'taken_back', 1)"
        ),
        Mutant(.settle, "suppresses tokens in doubt", "and (is_tripped or paused) then", "and paused then"),
        Mutant(
            .settle, "suppresses while the app is paused", "and (is_tripped or paused) then",
            "and is_tripped then"),
        Mutant(
            .settle, "remembers no invalid token", "            call('RPUSH', P .. 'unproven'",
            "            tostring('RPUSH', P .. 'unproven'"),
        Mutant(
            .settle, "counts a response twice", "responded = responded + entry.responses",
            "responded = responded + 2 * entry.responses"),
        Mutant(.feedback, "lets two hosts read at once", "return { 0, busy } end", "tostring(busy) end"),
        Mutant(.feedback, "reads before it is due", "return { 0, wait } end", "tostring(wait) end"),
        Mutant(.feedback, "ends another host's reading", "if old[1] ~= ARGV[2] then return 0 end", ""),
        Mutant(.feedback, "forgets the reason of a failure", "call('HSET', feedback, 'error', ARGV[5])", ""),
        Mutant(.suppress, "does a step twice", ">= tonumber(ARGV[3]) then", "< 0 then"),
        Mutant(.suppress, "sends no wake-up", "if #wakes > 0 then", "if false then"),
        Mutant(.suppress, "forgets where the list ends", "call('HSET', suppression, nn, id)"),
        Mutant(.promoteDue, "moves batches before they are due", "'-inf', t,", "'-inf', '+inf',"),
        Mutant(.promoteDue, "sends no wake-up", "wakes[nn] = true"),
        Mutant(
            .updateApp, "writes an event each time",
            "if old[3] or old[1] == reason and old[2] == fingerprint and not by then return 0 end"
        ),
        Mutant(.updateApp, "wakes no worker", "call('PUBLISH', P .. 'wakeups', '*')"),
        Mutant(.updateApp, "does not limit the intake", "if is_trickle and not old[2] then", "if false then"),
        Mutant(
            .updateApp, "stays full", "call('HDEL', admission, 'full', 'full_since')",
            "call('HGET', admission, 'full')"),
        Mutant(.pause, "reports nothing", "call('PUBLISH', P .. 'wakeups', 'pauses')"),
        Mutant(
            .pause, "does not count the change", "call('HINCRBY', P .. 'admission', 'pause_changes', 1)"),
        Mutant(.pause, "pauses any number of jobs", "if not make_room(key, t) then", "if false then"),
        Mutant(
            .pause, "forgets jobs that have not arrived",
            "and call('EXISTS', P .. 'job:' .. entries[i]) == 0 then",
            "and false then"),
        Mutant(.pause, "postpones a cancellation", "> tonumber(due) then", "~= tonumber(due) then"),
        Mutant(.cancelBatches, "cancels batches of a worker", "body and s.worker == '' then", "body then"),
        Mutant(
            .cancelBatches, "forgets that a batch was delayed",
            "if isDelayed then add_to_records(open_positions, 'delayed', -1) end"),
        Mutant(
            .cancelBatches, "leaves paused batches",
            "            else\n                call('LREM', P .. 'paused', 1, id)",
            "            else\n                tostring(id)"),
        Mutant(
            .promoteJob, "hurries others' pushes", "if count_open(other_map, 1, -1) == 0 then", "if true then"
        ),
        Mutant(.promoteJob, "sends no wake-up", "    wakes[nn] = true\n"),
        Mutant(.promoteJob, "counts the batch as delayed", "add_to_records(sums, 'delayed', -1)"),
        Mutant(.resume, "releases paused batches", "if not is_paused(entries[i + 1]) then", "if true then"),
        Mutant(.resume, "resumes jobs that crashed workers", "(what == 'job' or is_paused(entry))", "true"),
        Mutant(
            .resume, "returns batches to the end of the list", "return_batch(list, id)\n            wakes",
            "call('RPUSH', list, id)\n            wakes"),
        Mutant(
            .updateApp, "ends the pause of an operator",
            "if ARGV[2] == 'own' and call('HEXISTS', admission, 'paused_by') == 1 then return 2 end"),
        Mutant(.updateApp, "pauses over an operator", "if old[3] or old[1]", "if old[1]"),
        Mutant(
            .updateApp, "forgets that an operator closed the app", "if old[4] then reason =",
            "if false then reason ="),
        Mutant(
            .checkout, "sends to a paused token", "if tokens then\n        each_push_to",
            "if false then\n        each_push_to"),
        Mutant(
            .checkout, "sends cancelled pushes", "    cancel_positions(s, body)\n    local parts",
            "    local parts"),
        Mutant(
            .checkout, "counts no push that it cancels", "if next(cancelled_positions) then", "if false then"),
        Mutant(
            .checkout, "finishes no cancelled job",
            "if sum == tonumber(a[1]) then\n                finish_job(job, stamp, keep, a[1], delivered, failed, expired, texts",
            "if false then\n                finish_job(job, stamp, keep, a[1], delivered, failed, expired, texts"
        ),
        Mutant(
            .putback, "returns cancelled pushes", "if has_cancelled then cancel_positions(s, body) end"),
        Mutant(
            .split, "splits cancelled pushes", "            cancel_positions(s, body)\n            state",
            "            state"),
        Mutant(
            .split, "does not return that the job is paused", "if opens ~= '0' and pauses[1] and",
            "if false and"),
        Mutant(
            .settle, "retries cancelled pushes", "if #retried > 0 and has_cancels() then",
            "if false then"),
        Mutant(
            .settle, "forgets the time of the last settlement",
            "changed[n + 1], changed[n + 2] = 'last_outcome_at', stamp",
            "n = n - 2"),
        Mutant(.createGroup, "starts at the end of the stream", "'settlement', '0'", "'settlement', '$'"),
        Mutant(
            .swapProviderToken, "overwrites another host's value", "if stored ~= ARGV[1] then",
            "if false then"),
        Mutant(.swapProviderToken, "stores the value without expiry", "ARGV[2], 'PX', ARGV[3])", "ARGV[2])"),
        Mutant(
            .applyChanges, "applies changes at another version", "if current ~= version then", "if false then"
        ),
        Mutant(
            .applyChanges, "mistakes another call for this one", "and found[2] == ARGV[2] then", "then"),
        Mutant(.applyChanges, "forgets the call", "call('HSET', meta, 'did', ARGV[2])"),
        Mutant(
            .applyChanges, "does not count the version",
            "'version', string.format('%d', version + 1), 'did', ''", "'did', ''"),
        Mutant(.applyChanges, "runs any command", "not COMMANDS[ARGV[at]] or", ""),
        Mutant(.heartbeat, "drops no old heartbeat", "ends < now - 3600000 or", ""),
        Mutant(
            .alert, "fires an alert twice", ">= tonumber(level) then return 0 end", ">= 99 then return 0 end"),
        Mutant(.alert, "clears an alert that has not fired", "if not old then return 0 end", ""),
        Mutant(.ages, "ignores pushes in flight", "read_age(P .. 'in_flight:' .. nn)", ""),
        Mutant(.initFarm, "creates the farm again", "'HSETNX', farm, 'shards'", "'HSET', farm, 'shards'"),
        Mutant(.take, "returns a known job", "taken, known + n)", "taken, n)"),
        Mutant(.split, "does not count delayed pushes", "add_to_records(sums, 'delayed', 1)"),
        Mutant(
            .reclaim, "reclaims batches of live workers", "(not every and named[s.worker])", "(not every)"),
    ]
}
