extension Mutant {
    /// Faults in the handling of dead letters, replays and the audit of outcomes.
    static let letters = [
        Mutant(
            .settle, "keeps no dead letter", "        add_dead_letter(ARGV[k]", "        tostring(ARGV[k]"),
        Mutant(
            .settle, "keeps dead letters without end", "if kept then trim_dead_letters",
            "if kept then tostring"),
        Mutant(
            .settle, "forgets the number of trimmed dead letters",
            "if trimmed > 0 then call('HINCRBY', DEAD_LETTER_COUNTS, 'trimmed'",
            "if false then call('HINCRBY', DEAD_LETTER_COUNTS, 'trimmed'"),
        Mutant(
            .settle, "writes no audit entry", "    add_audit_record(table.concat", "    tostring(table.concat"
        ),
        Mutant(.settle, "never trims the audit", "> most then trim_audit", "> 1e9 then trim_audit"),
        Mutant(
            .settle, "writes an audit entry for settled outcomes again",
            "for _, entry in ipairs(settled) do\n        if entry.audit",
            "for k, entry in ipairs(entries) do\n        if entry.audit"),
        Mutant(
            .settle, "writes an audit entry above the limit",
            "if #record + AUDIT_EXTRA > most then return end"),
        Mutant(
            .replay, "leaves the dead letters",
            "if call('XDEL', DEAD_LETTERS, letter[1]) == 0 then return nil end"
        ),
        Mutant(.replay, "leaves a refused job", "call('XDEL', stream, letter[1])"),
        Mutant(.replay, "does a step of another", "if step ~= done + 1 then", "if false then"),
        Mutant(
            .replay, "continues the replay of other dead letters", "if last[3] and last[3] ~= ARGV[3] then",
            "if false then"),
        Mutant(.replay, "assigns a number twice", "if tonumber(ARGV[10]) <= number then", "if false then"),
        Mutant(
            .replay, "assigns an existing id", "if call('EXISTS', P .. 'job:' .. new) == 1 then",
            "if false then"),
        Mutant(.replay, "fills a full app", "if admission[1] then return { -1", "if false then return { -1"),
        Mutant(
            .replay, "replays missing dead letters",
            "if not letter then return { err = 'GONE ' .. ARGV[k] } end\n    letters[#letters + 1] = letter",
            "letters[#letters + 1] = letter"),
        Mutant(
            .replay, "forgets the jobs of the dead letters",
            "call('HINCRBY', job_record, 'replayed', pushes)",
            "tostring(0)"),
        Mutant(
            .replay, "forgets its step", "call('HSET', name, 'step', step",
            "call('HGET', name, 'step', step"),
        Mutant(.replay, "is remembered forever", "call('EXPIRE', name, ARGV[5])"),
        Mutant(
            .trim, "keeps old dead letters", "not isOver and tonumber(oldest[1]:match('^%d+')) >= from",
            "not isOver"),
        Mutant(
            .trim, "does not subtract the bytes",
            "call('HINCRBY', DEAD_LETTER_COUNTS, 'bytes', texts[-#body])"),
        Mutant(
            .trim, "keeps an old audit", "sum <= bytes and tonumber(oldest[1]:match('^%d+')) >= from",
            "sum <= bytes"),
        Mutant(
            .split, "forgets the replayed job", "call('HSET', job_record, 'replay_of', opens:sub(2))",
            "tostring(0)"),
    ]
}
