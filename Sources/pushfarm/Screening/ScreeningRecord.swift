/// How far a screening is: what its progress file says. Words with a space between two, a fact a line.
struct ScreeningRecord: Equatable, Sendable {
    var app: String
    /// Part of all job ids: another screening of the same file has other ones.
    var run: String
    /// Of the file of tokens.
    var fingerprint: UInt64
    /// Tokens of a job.
    var chunk: Int
    /// The position in the events before all that is still needed.
    var since: String
    /// Bytes of the good, invalid and rest files that count.
    var bytes: [Int] = [0, 0, 0]
    /// Chunks that have their outcomes.
    var done = NumberRanges()
    var tally = ScreeningTally()

    private static let title = "pushfarm screening 1"

    init(app: String, run: String, fingerprint: UInt64, chunk: Int, since: String) {
        (self.app, self.run, self.fingerprint, self.chunk, self.since) = (app, run, fingerprint, chunk, since)
    }
}

extension ScreeningRecord {
    var text: String {
        ([
            Self.title, "app \(app)", "run \(run)", "file \(String(fingerprint, radix: 16))",
            "chunk \(chunk)",
            "since \(since)", "bytes " + bytes.map { "\($0)" }.joined(separator: " "), "done \(done)",
        ] + tally.lines + ["end"]).joined(separator: "\n") + "\n"
    }

    /// Nil if the text is none of ours, or not whole.
    init?(_ text: String) {
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        guard lines.count > 8, lines.removeFirst() == Self.title, lines.popLast() == "",
            lines.popLast() == "end"
        else { return nil }
        func value(_ name: String) -> String? {
            guard let line = lines.first, line.hasPrefix(name + " ") else { return nil }
            lines.removeFirst()
            return String(line.dropFirst(name.utf8.count + 1))
        }
        guard let app = value("app"), let run = value("run"),
            let fingerprint = value("file").flatMap({ UInt64(unbounded: $0, radix: 16) }),
            let chunk = value("chunk").flatMap({ Int(foreign: $0) }), chunk > 0, let since = value("since"),
            let bytes = value("bytes")?.split(separator: " ").compactMap({ Int(foreign: $0) }),
            bytes.count == 3,
            bytes.allSatisfy({ $0 >= 0 }), let done = value("done").flatMap({ NumberRanges($0) })
        else { return nil }
        self.init(app: app, run: run, fingerprint: fingerprint, chunk: chunk, since: since)
        (self.bytes, self.done) = (bytes, done)
        for line in lines {
            guard tally.read(line.split(separator: " ")) else { return nil }
        }
    }
}
