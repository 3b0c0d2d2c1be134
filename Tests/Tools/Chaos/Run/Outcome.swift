package import ChaosChecker

/// The outcome of one scenario.
package struct Outcome: Sendable {
    package let scenario: Scenario
    package let seed: UInt64
    package var verdict = Verdict()
    package var bound = 0
    /// The number of injected faults.
    package var faults = 0
    package var complaints: [String] = []
    package var seconds = 0.0
    /// The folder of the ledgers and logs; nil if they were not kept.
    package var folder: String?

    package var isGood: Bool { complaints.isEmpty }

    package static let heading =
        pad("", 3) + pad("scenario", -48) + pad("faults", 7) + pad("pushes", 8) + pad("lost", 6)
        + pad("duplicates", 11) + pad("bound", 7) + pad("maybe", 7) + pad("records", 9) + pad("recovery", 10)
        + pad("seconds", 8) + "  verdict"

    package var line: String {
        let records = verdict.wrongSums == 0 ? "\(verdict.observations) ok" : "\(verdict.wrongSums) wrong"
        return Self.pad("\(scenario.number)", 2) + " " + Self.pad(scenario.name, -48)
            + Self.pad("\(faults)", 7)
            + Self.pad("\(verdict.pushes)", 8) + Self.pad("\(verdict.lost)", 6)
            + Self.pad("\(verdict.duplicates)", 11) + Self.pad("\(bound)", 7)
            + Self.pad("\(verdict.maybeDuplicated)", 7) + Self.pad(records, 9)
            + Self.pad("\(verdict.recovery) ms", 10) + Self.pad("\(Int(seconds.rounded()))", 8)
            + (isGood ? "  good" : "  FAILED")
    }

    /// Pads a text to `width` characters: on the left, or on the right if `width` is negative.
    private static func pad(_ text: String, _ width: Int) -> String {
        let room = String(repeating: " ", count: max(0, abs(width) - text.count))
        return width < 0 ? text + room : room + text
    }

    package var json: [String: Any] {
        [
            "scenario": scenario.number, "name": scenario.name, "seed": seed, "faults": faults,
            "pushes": verdict.pushes, "delivered": verdict.delivered, "lost": verdict.lost,
            "unexpected": verdict.unexpected, "duplicates": verdict.duplicates, "bound": bound,
            "maybe_duplicated": verdict.maybeDuplicated, "false_claims": verdict.falseClaims,
            "missed_claims": verdict.missedClaims, "recovered": verdict.recovered,
            "forgotten": verdict.forgotten, "out_of_order": verdict.outOfOrder,
            "crossings": verdict.crossings, "two_senders": verdict.overlaps,
            "observations": verdict.observations,
            "wrong_sums": verdict.wrongSums, "recovery_ms": verdict.recovery,
            "finished_after_ms": verdict.finishedAfter, "seconds": seconds,
            "verdict": isGood ? "good" : "failed",
            "complaints": complaints,
        ]
    }
}
