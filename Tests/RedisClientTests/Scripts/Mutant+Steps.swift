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
            .split, "puts bulk among the high ones", "(lane == 'b' and 'bulk:' or 'ready:') .. nn, id",
            "'ready:' .. nn, id"),
        Mutant(
            .split, "forgets where a job is split", "call('HSET', intake, 'head', ARGV[4], 'offset', ARGV[5])"
        ),
        Mutant(.checkout, "does not count what it gives", "add_to_records(sums, 'in_flight', 1)"),
        Mutant(.report, "leaves the books of a batch that is done", "        end_or_pause(id, s)\n"),
        Mutant(.report, "hands nothing over", "call('XADD', P .. 'results', '*', 'r', entry)\n", "\n"),
        Mutant(.report, "forgets what was handed over", "or s.open - handed", "or s.open"),
        Mutant(
            .putback, "leaves the credit", "s.worker, s.granted = '', 0\n            if has_cancelled",
            "s.worker = ''\n            if has_cancelled", by: Seed(number: 2, profile: .quiet)),
        Mutant(
            .putback, "leaves the batch in flight, too", "call('LREM', in_flight, -1, id)",
            by: Seed(number: 2, profile: .quiet)),
        Mutant(
            .putback, "forgets what was in flight", "add_to_records(sums, 'in_flight', -1)",
            by: Seed(number: 1, profile: .clock)),
        Mutant(.settle, "does not count what waits", "call('HINCRBY', job_record, 'delayed', r[4])", ""),
        Mutant(
            .settle, "never ends a job", "local ends = old[3] + old[4] + old[5] + old[6] == old[1]",
            "local ends = false", by: Seed(number: 2, profile: .clock)),
        Mutant(
            .settle, "loses what is to be tried again", "add_batch(id, ARGV[at + 3], ARGV[at + 4])", "",
            by: Seed(number: 2, profile: .clock)),
        Mutant(.promoteDue, "does not count what waits no more", "add_to_records(sums, 'delayed', -1)"),
        Mutant(
            .promoteDue, "moves nothing to the lists", "        call('RPUSH', list, id)\n",
            by: Seed(number: 2, profile: .poison)),
    ]
}
