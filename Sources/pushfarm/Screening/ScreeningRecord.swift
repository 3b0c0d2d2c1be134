/// The progress of a screening, as its progress file stores it. Each line has one fact, as words with one
/// space between them.
struct ScreeningRecord: Equatable, Sendable {
    var app: String
    /// The part that all job ids of this screening have in common. Each screening of a file has a different part, so
    /// that the farm does not refuse its jobs as duplicates.
    var run: String
    /// The fingerprint of the token file.
    var fingerprint: UInt64
    /// The number of tokens per job.
    var chunk: Int
    /// The position in the event stream after which the screening still needs events.
    var since: String
    /// How many bytes of each output file are valid. The order is: good, invalid, rest.
    var bytes: [Int] = [0, 0, 0]
    /// Chunks whose tokens all have an outcome.
    var done = RangeSet<Int>()
    var tally = ScreeningTally()

    private static let title = "pushfarm screening 1"
}

extension ScreeningRecord {
    var text: String {
        ([
            Self.title, "app \(app)", "run \(run)", "file \(String(fingerprint, radix: 16))",
            "chunk \(chunk)", "since \(since)", "bytes " + bytes.map { "\($0)" }.joined(separator: " "),
            "done " + Figures.ranges(done),
        ] + tally.lines + ["end"]).joined(separator: "\n") + "\n"
    }

    /// Returns nil when the text is not a complete progress record.
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
            bytes.count == 3, bytes.allSatisfy({ $0 >= 0 }),
            let done = value("done").flatMap(Self.numbers)
        else { return nil }
        self.init(
            app: app, run: run, fingerprint: fingerprint, chunk: chunk, since: since, bytes: bytes, done: done
        )
        for line in lines {
            guard tally.read(line.split(separator: " ")) else { return nil }
        }
    }

    /// Returns nil when the text does not have the format of ``Figures/ranges(_:)``.
    static func numbers(_ text: String) -> RangeSet<Int>? {
        var numbers = RangeSet<Int>()
        for word in text.split(separator: " ") {
            let ends = word.split(separator: "-", omittingEmptySubsequences: false).map { Int(foreign: $0) }
            guard ends.count <= 2, let first = ends[0], let last = ends[ends.count - 1], first >= 0,
                first <= last, numbers.ranges.last.map({ $0.upperBound < first }) ?? true
            else { return nil }
            numbers.insert(contentsOf: first..<last + 1)
        }
        return numbers
    }
}

/// The number of tokens by verdict.
struct ScreeningTally: Equatable, Sendable {
    private(set) var good = 0
    /// The counts of invalid tokens by reason.
    private(set) var invalid: [String: Int] = [:]
    /// Invalid tokens that were already suppressed.
    private(set) var known = 0
    /// The counts of undecided tokens by reason.
    private(set) var undecided: [String: Int] = [:]

    var invalidCount: Int { invalid.values.reduce(0, +) }
    var undecidedCount: Int { undecided.values.reduce(0, +) }
    /// Tokens that have an outcome.
    var count: Int { good + invalidCount + undecidedCount }

    mutating func add(_ verdict: ScreeningVerdict) {
        switch verdict {
        case .good: good += 1
        case .invalid(let reason, _, let wasKnown):
            invalid[reason, default: 0] += 1
            if wasKnown { known += 1 }
        case .undecided(let reason, _): undecided[reason, default: 0] += 1
        }
    }
}

extension ScreeningTally {
    /// The counts as lines of a record.
    var lines: [String] {
        func list(_ name: String, _ counts: [String: Int]) -> [String] {
            counts.sorted { $0.key < $1.key }.map { "\(name) \($0.key) \($0.value)" }
        }
        return ["good \(good)", "known \(known)"] + list("invalid", invalid) + list("rest", undecided)
    }

    /// Reads one of ``lines``, split into words. Returns false when the words are not from a line of
    /// ``lines``.
    mutating func read(_ words: [Substring]) -> Bool {
        guard let number = words.last.flatMap({ Int(foreign: $0) }), number >= 0 else { return false }
        switch (words[0], words.count) {
        case ("good", 2): good = number
        case ("known", 2): known = number
        case ("invalid", 3): invalid[String(words[1])] = number
        case ("rest", 3): undecided[String(words[1])] = number
        default: return false
        }
        return true
    }
}

/// The verdict of a screening on a token.
enum ScreeningVerdict: Equatable, Sendable {
    /// The gateway accepted a push to the token.
    case good
    /// The token became invalid or was found invalid at `time`, in Unix seconds. `wasKnown`: whether the
    /// token was suppressed already, so that no push was sent.
    case invalid(reason: String, time: Int64, wasKnown: Bool)
    /// The token is undecided.
    case undecided(reason: String, cause: String?)

    /// The verdict as a line of its file.
    func line(_ token: String) -> String {
        switch self {
        case .good: token
        case .invalid(let reason, let time, _): "\(token) \(reason) \(time)"
        case .undecided(let reason, let cause): token + " " + reason + (cause.map { " " + $0 } ?? "")
        }
    }
}
