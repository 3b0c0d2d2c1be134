extension Mutant {
    /// Faults of the scripts that take and finish device inputs.
    static let devices = [
        Mutant(
            .takeDevices, "takes beyond the bytes asked for", "(#reply == 2 or sum < bytes)", "true"),
        Mutant(.takeDevices, "takes inputs that are too large", "if #input > limit then", "if false then"),
        Mutant(
            .takeDevices, "gives a taken input that is too large", "if #input <= limit then", "if true then"),
        Mutant(.takeDevices, "keeps an input that is too large", "call('LTRIM', DEVICES_TAKEN, 0, -2)"),
        Mutant(
            .takeDevices, "keeps a taken input that is too large", "            call('LPOP', DEVICES_TAKEN)\n"
        ),
        Mutant(.takeDevices, "refuses any number of inputs", " and refused < 64", ""),
        Mutant(
            .takeDevices, "passes a large input", "not is_behind and process == '' do", "process == '' do"),
        Mutant(
            .takeDevices, "takes more inputs while it tries one", "not is_behind and process == '' do",
            "not is_behind do"),
        Mutant(.takeDevices, "tries several inputs at a time", "most = math.min(most, 1)\n"),
        Mutant(.takeDevices, "counts a try of the same process again", "state[3] ~= process and ", ""),
        Mutant(.takeDevices, "refuses poison too early", "if tries >=", "if tries + 1 >="),
        Mutant(.takeDevices, "keeps poison", "refuse(call('LPOP', DEVICES_TAKEN), 0, 'poison')"),
        Mutant(
            .takeDevices, "gives the next input after poison", "most = 0\n        else",
            "most = 1\n        else"),
        Mutant(
            .takeDevices, "does not forget tries", "elseif state[3] then\n    forget_tries()",
            "elseif state[3] then\n    tostring(1)"),
        Mutant(.finishDevices, "does not forget tries", "step)\nforget_tries()", "step)"),
        Mutant(
            .takeDevices, "forgets taken inputs", "while has_room() and not is_behind do\n    local inputs",
            "while false do\n    local inputs"),
        Mutant(.takeDevices, "reports no end of a flood", "\nreport_pending_devices(t)\n", "\n"),
        Mutant(.takeDevices, "keeps a whole large input", "original:sub(1, 65536)", "original"),
        Mutant(.takeDevices, "does not count a large input", "increment(DEVICE_INPUTS, 'finished', 1)"),
        Mutant(
            .takeDevices, "writes an event of a flood too early",
            "or not is_event_due(t, tonumber(r[1]) or 0)", ""),
        Mutant(
            .finishDevices, "finishes a step twice", "if step == done then return { 0, 0 } end",
            "if step == done then done = done - 1 end"),
        Mutant(.finishDevices, "forgets its step", "call('HSET', DEVICE_INPUTS, 'step', step)"),
        Mutant(
            .finishDevices, "finishes inputs that are not taken", "if length < finished then", "if false then"
        ),
        Mutant(.finishDevices, "removes too many inputs", "finished, -1)", "finished + 1, -1)"),
        Mutant(
            .finishDevices, "keeps another input", "'LINDEX', DEVICES_TAKEN, ARGV[i]",
            "'LINDEX', DEVICES_TAKEN, 0"),
        Mutant(
            .finishDevices, "writes an event for each input of a flood",
            "if not inputs then return false end", "inputs = inputs or 1"),
        Mutant(.finishDevices, "hides inputs without an event", "if inputs > 1 then", "if false then"),
        Mutant(.finishDevices, "counts no finished inputs", "increment(DEVICE_INPUTS, 'finished', finished)"),
    ]
}
