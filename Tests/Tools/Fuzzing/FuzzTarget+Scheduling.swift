import PushModel
import RandomTesting
import Scheduling

extension FuzzTarget {
    /// A file with the rules of a time zone.
    static let zone = FuzzTarget(
        "zone",
        words: [
            "TZif2", "TZif\0", "\0\0\0\u{1}", "\0\0\u{e}\u{10}\0\0", "CET\0",
            "\nCET-1CEST,M3.5.0,M10.5.0/3\n", "\n\n",
            "<+0330>-3:30", ",J60/0,J365/167", ",0/-167,365", ",M12.5.6/24:59:59",
        ]
    ) { bytes throws(Violation) in
        let rules: TimeZoneRules
        do throws(TimeZoneError) { rules = try TimeZoneRules(name: "Fuzz", bytes: bytes) } catch {
            return try Violation.unless(
                (0...bytes.count).contains(error.position), "a fault behind the end, at \(error.position)")
        }
        var random = SplitMix(seed: XXH64.hash(bytes, seed: 0))
        for _ in 0..<8 {
            let shift = Int64(random.int(in: 16...40))
            let time = UTCTime(milliseconds: Int64(truncatingIfNeeded: random.next()) >> shift)
            let period = rules.period(at: time)
            try Violation.unless(
                period.seconds.contains(time.seconds) && period.offset.magnitude <= 26 * 3600,
                "at \(time): \(period)")
            let local = rules.localTime(at: time)
            let occurrence = rules.occurrence(of: local)
            try Violation.unless(
                occurrence.first.seconds <= time.seconds && rules.localTime(at: occurrence.first) == local
                    && rules.localTime(at: occurrence.last) == local, "at \(time): \(occurrence)")
        }
    }

    /// A cron expression.
    static let cron = FuzzTarget(
        "cron", words: [" ", "*", "*/", "0", "59", "31", "feb", "sun-sat", ",", "-", "29", "1-5", "7"],
        longestInput: 300
    ) { bytes throws(Violation) in
        let text = String(decoding: bytes, as: UTF8.self)
        let expression: CronExpression
        do throws(CronError) { expression = try CronExpression(text) } catch {
            return try Violation.unless(
                (0...text.utf8.count).contains(error.position) && !error.description.isEmpty,
                "a fault behind the end, at \(error.position)")
        }
        guard let utc else { throw Violation("no zone") }
        var time = UTCTime(seconds: 3_881_000_000)
        for _ in 0..<3 {
            guard let next = expression.next(after: time, in: utc) else {
                throw Violation("never starts after \(time)")
            }
            try Violation.unless(next > time && next.milliseconds % 60_000 == 0, "starts at \(next)")
            time = next
        }
    }

    /// The rules of UTC: a file of version 1 with one offset and no change.
    private static let utc = try? TimeZoneRules(
        name: "UTC",
        bytes: Array("TZif".utf8) + [UInt8](repeating: 0, count: 16 + 16)
            + [0, 0, 0, 1, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0] + Array("UTC\0".utf8))
}
