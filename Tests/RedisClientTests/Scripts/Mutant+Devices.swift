extension Mutant {
    /// Faults of the scripts that take and finish device inputs.
    static let devices = [
        Mutant(
            .takeInputs, "takes beyond the bytes asked for", "(#reply == 2 or sum < bytes)", "true"),
        Mutant(.takeInputs, "takes inputs that are too large", "if #input > limit then", "if false then"),
        Mutant(
            .takeInputs, "gives a taken input that is too large", "if #input <= limit then", "if true then"),
        Mutant(.takeInputs, "keeps an input that is too large", "call('LTRIM', INPUTS_TAKEN, 0, -2)"),
        Mutant(
            .takeInputs, "keeps a taken input that is too large", "            call('LPOP', INPUTS_TAKEN)\n"
        ),
        Mutant(.takeInputs, "refuses any number of inputs", " and refused < 64", ""),
        Mutant(
            .takeInputs, "passes a large input", "not is_behind and process == '' do", "process == '' do"),
        Mutant(
            .takeInputs, "takes more inputs while it tries one", "not is_behind and process == '' do",
            "not is_behind do"),
        Mutant(.takeInputs, "tries several inputs at a time", "most = math.min(most, 1)\n"),
        Mutant(.takeInputs, "counts a try of the same process again", "state[3] ~= process and ", ""),
        Mutant(.takeInputs, "refuses poison too early", "if tries >=", "if tries + 1 >="),
        Mutant(.takeInputs, "keeps poison", "refuse(call('LPOP', INPUTS_TAKEN), 0, 'poison')"),
        Mutant(
            .takeInputs, "gives the next input after poison", "most = 0\n        else",
            "most = 1\n        else"),
        Mutant(
            .takeInputs, "does not forget tries", "elseif state[3] then\n    forget_tries()",
            "elseif state[3] then\n    tostring(1)"),
        Mutant(.finishInputs, "does not forget tries", "step)\nforget_tries()", "step)"),
        Mutant(
            .takeInputs, "forgets taken inputs", "while has_room() and not is_behind do\n    local inputs",
            "while false do\n    local inputs"),
        Mutant(.takeInputs, "reports no end of a flood", "\nreport_pending_inputs(t)\n", "\n"),
        Mutant(.takeInputs, "keeps a whole large input", "original:sub(1, 65536)", "original"),
        Mutant(.takeInputs, "does not count a large input", "increment(INPUTS, 'finished', 1)"),
        Mutant(
            .takeInputs, "writes an event of a flood too early",
            "or not is_event_due(t, tonumber(r[1]) or 0)", ""),
        Mutant(
            .finishInputs, "finishes a step twice", "if step == done then return { 0, 0 } end",
            "if step == done then done = done - 1 end"),
        Mutant(.finishInputs, "forgets its step", "call('HSET', INPUTS, 'step', step)"),
        Mutant(
            .finishInputs, "finishes inputs that are not taken", "if length < finished then", "if false then"
        ),
        Mutant(.finishInputs, "removes too many inputs", "finished, -1)", "finished + 1, -1)"),
        Mutant(
            .finishInputs, "keeps another input", "'LINDEX', INPUTS_TAKEN, ARGV[i]",
            "'LINDEX', INPUTS_TAKEN, 0"),
        Mutant(
            .finishInputs, "writes an event for each input of a flood",
            "if not inputs then return false end", "inputs = inputs or 1"),
        Mutant(.finishInputs, "hides inputs without an event", "if inputs > 1 then", "if false then"),
        Mutant(.finishInputs, "counts no finished inputs", "increment(INPUTS, 'finished', finished)"),
    ]
}
