@testable import RedisClient
@testable import StoreProtocol

/// A deliberate fault in a script, which the simulation must notice.
struct Mutant: Sendable, CustomStringConvertible {
    let script: Script
    let description: String
    let original: String
    let replacement: String
    /// A seed that quickly reveals the fault. The test tries other seeds only if this seed does not reveal the fault.
    let shown: Seed?

    struct Seed: Sendable {
        let number: UInt64
        let profile: SimulationProfile
    }

    init(
        _ script: Script, _ description: String, _ original: String, _ replacement: String = "",
        by shown: Seed? = nil
    ) {
        (self.script, self.description) = (script, description)
        (self.original, self.replacement) = (original, replacement)
        self.shown = shown
    }

    /// The text of the script with the fault; nil if the fault is in a different script.
    func text(of script: Script) -> String? {
        guard script == self.script else { return nil }
        let text = String(decoding: script.text, as: UTF8.self)
        guard let range = text.firstRange(of: original) else {
            preconditionFailure("\(script) does not hold: \(original)")
        }
        return text.replacingCharacters(in: range, with: replacement)
    }

    static let all = [
        Mutant(
            .settle, "settles an entry again", "if call('XDEL', results, entry.id) == 1 then",
            "call('XDEL', results, entry.id) if true then", by: Seed(number: 2, profile: .quiet)),
        Mutant(
            .settle, "does not subtract pushes that leave the flight", "texts[old[2] - more - r[4]]",
            "texts[old[2]]"),
        Mutant(
            .report, "reports a position again",
            "if x and x <= last then return { map, s.granted, stale } end"),
        Mutant(
            .report, "leaves a finished batch in its list",
            "if call('LREM', P .. 'in_flight:' .. nn, 1, id) == 0 and", "if false and"),
        Mutant(
            .report, "does not count facts about a batch without a worker",
            "if s.worker == '' or has_paused then",
            "if false then", by: Seed(number: 5, profile: .rollBacks)),
        Mutant(
            .reclaim, "does not count suspects", "add_to_records(maybe_sent, 'maybe_duplicated', 1)",
            by: Seed(number: 2, profile: .rollBacks)),
        Mutant(
            .reclaim, "does not subtract pushes in flight", "add_to_records(released, 'in_flight', -1)",
            by: Seed(number: 2, profile: .everything)),
        Mutant(.reclaim, "sends at-most-once suspects again", "if flags % 2 == 1 then", "if false then"),
        Mutant(
            .checkout, "does not store the credit", "    save_state(id, s)\n    give(id, s, body)",
            "    local granted = s.granted\n    s.granted = 0\n    save_state(id, s)\n    s.granted = granted\n    give(id, s, body)",
            by: Seed(number: 2, profile: .rollBacks)),
        Mutant(
            .checkout, "does not assign known batches again", "if nknown >= 0 then", "if false then",
            by: Seed(number: 5, profile: .rollBacks)),
        Mutant(.promoteDue, "leaves a batch in the delayed set", "call('ZREM', delayed, id)"),
        Mutant(
            .split, "splits a job that is no longer taken",
            "if length < ARGV[3] + (ARGV[4] == '' and 0 or 1) then",
            "if false then", by: Seed(number: 10, profile: .rollBacks)),
        Mutant(.split, "opens an open job record again", "if old[1] ~= 'finished' or", "if false and"),
        Mutant(.split, "does not count open pushes", "if added > 0 then", "if false then"),
        Mutant(.settle, "does not subtract pushes with an outcome", "if ended > 0 then", "if false then"),
        Mutant(
            .take, "forgets taken jobs", "while known + n < length and", "while false and",
            by: Seed(number: 2, profile: .everything)),
    ]
}
