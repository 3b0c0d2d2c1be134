extension Mutant {
    /// Faults of the scripts for jobs that name users or devices.
    static let lookups = [
        Mutant(
            .queueLookups, "queues the jobs of a step twice",
            "if step == done and last[2] == what then return 0 end",
            "if step == done then done = done - 1 end"),
        Mutant(.queueLookups, "forgets its step", "call('HSET', intake, 'step', step, 'did', what)"),
        Mutant(.queueLookups, "keeps the jobs in taken", "drop_taken(jobs, last[3])"),
        Mutant(
            .queueLookups, "loses jobs", "'LRANGE', P .. 'taken', 0, jobs - 1",
            "'LRANGE', P .. 'taken', 1, jobs - 1"),
        Mutant(
            .queueLookups, "reverses the jobs", "call('RPUSH', P .. 'lookups', job)",
            "call('LPUSH', P .. 'lookups', job)"),
        Mutant(.queueLookups, "queues jobs that are not taken", "if length < jobs then", "if false then"),
        Mutant(.readLookups, "reads beyond the bytes asked for", "(#reply == 2 or sum < bytes)", "true"),
        Mutant(.readLookups, "tries several jobs at a time", "most = math.min(most, 1)\n"),
        Mutant(.readLookups, "counts a try of the same process again", "state[3] ~= process and ", ""),
        Mutant(.readLookups, "refuses poison too early", "if tries >=", "if tries + 1 >="),
        Mutant(
            .readLookups, "keeps poison", "local job = call('LPOP', lookups)",
            "local job = call('LINDEX', lookups, 0)"),
        Mutant(.readLookups, "keeps a whole large job", "job:sub(1, 65536)", "job"),
        Mutant(
            .readLookups, "does not forget tries",
            "elseif state[3] then\n    call('HDEL', intake, 'lookup_tries', 'lookup_tried_by')",
            "elseif state[3] then\n    tostring(1)"),
        Mutant(
            .finishLookups, "finishes a step twice", "if step == done then return 0 end",
            "if step == done then done = done - 1 end"),
        Mutant(.finishLookups, "forgets its step", "call('HSET', intake, 'lookup_step', step)"),
        Mutant(.finishLookups, "finishes jobs that do not wait", "if length < jobs then", "if false then"),
        Mutant(
            .finishLookups, "reverses the jobs", "call('RPUSH', KEYS[2], ARGV[i])",
            "call('LPUSH', KEYS[2], ARGV[i])"),
        Mutant(
            .finishLookups, "does not forget tries",
            "step)\ncall('HDEL', intake, 'lookup_tries', 'lookup_tried_by')", "step)"),
        Mutant(
            .finishLookups, "stores only the first counter", "2 + 3 * counters, 3 do", "2 + counters, 3 do"),
        Mutant(
            .finishLookups, "reports only the first push", "for _ = 1, events do place",
            "for _ = 2, events do place"),
        Mutant(.split, "hides capped pushes", "add_number(words, 'capped', capped)"),
        Mutant(.split, "counts capped pushes only beside other faults", "and capped == '0' and", "and"),
        Mutant(.split, "hides unknown recipients", "add_number(words, 'unknown_recipients', unknown)"),
        Mutant(
            .split, "counts unknown recipients only beside other faults", "and unknown == '0' and", "and"),
    ]
}

extension Mutant {
    /// Faults of the inputs by which invalid tokens leave stored devices.
    static let invalidTokens = [
        Mutant(.settle, "reports no unregistered token", "    else\n        report_invalid(record)\n"),
        Mutant(
            .settle, "reports bad tokens before they are proven",
            "unproven[#unproven + 1] = nn .. ' ' .. last[nn]\n",
            "unproven[#unproven + 1] = nn .. ' ' .. last[nn]\n        report_invalid(record)\n"),
        Mutant(.settle, "forgets proven tokens", "report_proven(-2 * math.ceil(bad) - 1)"),
        Mutant(
            .settle, "reports tokens that can be withdrawn", "report_proven(-2 * math.ceil(bad) - 1)",
            "report_proven(-1)"),
        Mutant(.settle, "forgets the last proven tokens", "report_proven(-1)\n"),
        Mutant(.settle, "reports tokens of the wrong topic", "not INVALID[record:byte()] or", ""),
        Mutant(
            .settle, "reports another time", "struct.unpack('>I4', record, 6)",
            "struct.unpack('>I4', record, 5)"),
        Mutant(
            .suppress, "reports no token of the feedback service", "        report_invalid(ARGV[i + 1])\n"),
        Mutant(
            .suppress, "reports tokens of an app without devices", "has_registry == 0 or", ""),
        Mutant(.resolveUnconfirmed, "reports no confirmed token", "            report_invalid(parts[2])\n"),
    ]
}
