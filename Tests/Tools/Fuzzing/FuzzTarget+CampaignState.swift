import PushModel
import RandomTesting
import Scheduling
import Segments
import Variants

extension FuzzTarget {
    /// What Redis or the system stores for campaigns: counters of caps, assigned variants, tallies, payloads to merge, and names of
    /// zones. The first byte chooses the reader.
    static let campaignState = FuzzTarget(
        "campaign-state",
        words: [
            "\0", "\u{1}", "\u{2}", "\u{3}", "\u{4}", "\u{5}", "1000", "9/1", " 50:3",
            "{\"aps\":{\"content-available\":1}",
            ",\"fetch\":[", "Z Europe/Berlin 1", "\nL Etc/UTC UTC", "# version 2025b",
        ]
    ) { bytes throws(Violation) in
        let rest = Array(bytes.dropFirst())
        switch (bytes.first ?? 0) % 6 {
        case 0: try checkCounts(rest)
        case 1: try checkAssignment(rest)
        case 2: try checkTally(rest)
        case 3, 4: try checkMerge(rest)
        default: try checkZones(rest)
        }
    }

    private static func checkCounts(_ bytes: [UInt8]) throws(Violation) {
        guard var counts = CapCounts(bytes: bytes) else { return }
        try Violation.unless(CapCounts(bytes: counts.bytes) == counts, "other counts are read back")
        let ordinal = UInt16(truncatingIfNeeded: XXH64.hash(bytes, seed: 0))
        let before = counts[ordinal]
        counts.add([ordinal])
        try Violation.unless(counts[ordinal] == min(15, before + 1), "\(before), then \(counts[ordinal])")
    }

    private static func checkAssignment(_ bytes: [UInt8]) throws(Violation) {
        guard var chunk = VariantAssignment(bytes: bytes) else { return }
        let ordinal = UInt16(truncatingIfNeeded: XXH64.hash(bytes, seed: 0))
        let before = chunk[ordinal]
        let arm = chunk.assign(ordinal, to: .variant(0))
        try Violation.unless(arm == before ?? .variant(0) && chunk[ordinal] == arm, "\(ordinal): \(arm)")
        try Violation.unless(VariantAssignment(bytes: chunk.bytes) == chunk, "other variants are read back")
    }

    private static func checkTally(_ bytes: [UInt8]) throws(Violation) {
        let half = bytes.count / 2
        let tally = RewardTally(
            variants: ["a"],
            fields: ["pulls:a": Array(bytes[..<half]), "rewards:a": Array(bytes[half...])])
        for entry in tally.variants {
            let interval = entry.interval
            try Violation.unless(
                0 <= interval.low && interval.low <= interval.high && interval.high <= 1, "\(interval)")
        }
        let policy = LearningPolicy(allocation: .softmax(temperature: 0.1), exploration: nil)
        let shares = policy.shares(isExploring: false, tallies: tally.tallies, seed: 1)
        try Violation.unless(abs(shares.reduce(0, +) - 1) < 1e-6, "\(shares)")
    }

    private static func checkMerge(_ payload: [UInt8]) throws(Violation) {
        guard let group = try? MergeGroup(name: "g") else { throw Violation("no group") }
        let member: MergeMember
        do throws(ScheduleError) {
            member = try MergeMember(
                campaign: "c", priority: 1, startedAt: UTCTime(seconds: 0), payload: payload, group: group)
        } catch { return try Violation.unless(!error.reason.isEmpty, "no reason") }
        let merged = group.payload(of: [member])
        try Violation.unless(merged.count <= MergeGroup.payloadLimit, "\(merged.count) bytes")
        let isJSON = merged.withUnsafeBytes { (try? JSONScanner.validate($0)) != nil }
        try Violation.unless(isJSON, "the payload is not JSON")
    }

    private static func checkZones(_ list: [UInt8]) throws(Violation) {
        let catalog = ZoneCatalog(folder: "/z") { $0 == "/z/tzdata.zi" ? list : nil }
        let name = String(decoding: list.prefix(40), as: UTF8.self)
        do throws(ZoneError) { _ = try catalog.rules(name) } catch {
            return try Violation.unless(error == .noDatabase(folder: "/z"), "\(error)")
        }
        throw Violation("\(name) has rules")
    }
}
