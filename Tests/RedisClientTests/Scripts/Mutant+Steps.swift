extension Mutant {
    /// More faults that the simulation must notice: a script omits an effect, or applies an effect to the wrong object.
    static let steps = [
        Mutant(
            .take, "takes the jobs in the wrong order", "call('RPUSH', taken,", "call('LPUSH', taken,",
            by: Seed(number: 2, profile: .everything)),
        Mutant(
            .refuse, "does not drop the job", "    drop_taken(1, suspects)\n    return has_event",
            "    return has_event",
            by: Seed(number: 2, profile: .everything)),
        Mutant(
            .split, "puts bulk batches among the high ones",
            "(lane == 'b' and 'bulk:' or 'ready:') .. nn, id",
            "'ready:' .. nn, id"),
        Mutant(
            .split, "forgets the position in a partly split job",
            "call('HSET', intake, 'head', ARGV[4], 'offset', ARGV[5])"
        ),
        Mutant(.checkout, "does not count the assigned pushes", "add_to_records(sums, 'in_flight', 1)"),
        Mutant(.report, "leaves the state of a finished batch", "        end_or_pause(id, s)\n"),
        Mutant(.report, "reports nothing", "call('XADD', P .. 'results', '*', 'r', entry)\n", "\n"),
        Mutant(.report, "forgets reported positions", "or s.open - handed", "or s.open"),
        Mutant(
            .putback, "leaves the credit", "s.worker, s.granted = '', 0\n            if has_cancelled",
            "s.worker = ''\n            if has_cancelled", by: Seed(number: 2, profile: .quiet)),
        Mutant(
            .putback, "leaves the batch in flight, too", "call('LREM', in_flight, -1, id)",
            by: Seed(number: 2, profile: .quiet)),
        Mutant(
            .putback, "does not subtract pushes in flight", "add_to_records(sums, 'in_flight', -1)",
            by: Seed(number: 1, profile: .clock)),
        Mutant(.settle, "does not count delayed pushes", "call('HINCRBY', job_record, 'delayed', r[4])", ""),
        Mutant(
            .settle, "never finishes a job", "local ends = old[3] + old[4] + old[5] + old[6] == old[1]",
            "local ends = false", by: Seed(number: 2, profile: .clock)),
        Mutant(
            .settle, "loses retries", "add_batch(id, ARGV[at + 3], ARGV[at + 4])", "",
            by: Seed(number: 2, profile: .clock)),
        Mutant(.promoteDue, "does not subtract delayed pushes", "add_to_records(sums, 'delayed', -1)"),
        Mutant(
            .promoteDue, "moves nothing to the lists", "        call('RPUSH', list, id)\n",
            by: Seed(number: 2, profile: .poison)),
        Mutant(
            .storeCampaignStep, "stores nothing of merged campaigns",
            "for _, other in ipairs(others) do store_merged(other, name, t) end",
            by: Seed(number: 1, profile: .campaigns)),
        Mutant(
            .storeCampaignStep, "adds a step twice",
            "if step == done and last[2] == name then return { 0 } end",
            "if step == done and last[2] == name then done, before = done - 1, name end",
            by: Seed(number: 1, profile: .campaigns)),
        Mutant(
            .changeCampaign, "lets a report finish the job too early", "increment(job_record, 'accepted', 1)",
            by: Seed(number: 1, profile: .campaigns)),
        Mutant(
            .markDone, "counts a repeated report", "if call('SETBIT', key, ARGV[k], 1) == 0 then",
            "if call('SETBIT', key, ARGV[k], 1) then", by: Seed(number: 1, profile: .campaigns)),
        Mutant(
            .applyChanges, "applies changes that were planned before others",
            "if current ~= version then return", "if false then return",
            by: Seed(number: 1, profile: .campaigns)),
    ]
}
