/// How many tokens a screening has found to be what.
struct ScreeningTally: Equatable, Sendable {
    private(set) var good = 0
    /// By reason.
    private(set) var invalid: [String: Int] = [:]
    /// Of the invalid tokens: those that were suppressed already.
    private(set) var known = 0
    /// By reason.
    private(set) var rest: [String: Int] = [:]

    var invalidCount: Int { invalid.values.reduce(0, +) }
    var restCount: Int { rest.values.reduce(0, +) }
    /// Tokens that have an outcome.
    var count: Int { good + invalidCount + restCount }

    mutating func add(_ verdict: ScreeningVerdict) {
        switch verdict {
        case .good: good += 1
        case .invalid(let reason, _, let wasKnown):
            invalid[reason, default: 0] += 1
            if wasKnown { known += 1 }
        case .open(let reason, _): rest[reason, default: 0] += 1
        }
    }
}

extension ScreeningTally {
    /// Lines of a record.
    var lines: [String] {
        func list(_ name: String, _ counts: [String: Int]) -> [String] {
            counts.sorted { $0.key < $1.key }.map { "\(name) \($0.key) \($0.value)" }
        }
        return ["good \(good)", "known \(known)"] + list("invalid", invalid) + list("rest", rest)
    }

    /// Reads one of ``lines``, in words. False if it is none.
    mutating func read(_ words: [Substring]) -> Bool {
        guard let number = words.last.flatMap({ Int(foreign: $0) }), number >= 0 else { return false }
        switch (words[0], words.count) {
        case ("good", 2): good = number
        case ("known", 2): known = number
        case ("invalid", 3): invalid[String(words[1])] = number
        case ("rest", 3): rest[String(words[1])] = number
        default: return false
        }
        return true
    }
}

/// What a screening has found out about a token.
enum ScreeningVerdict: Equatable, Sendable {
    /// The gateway took a push for it.
    case good
    /// Since Unix seconds, or found so then. `wasKnown`: it was suppressed, and nothing was sent.
    case invalid(reason: String, time: Int64, wasKnown: Bool)
    /// Neither is known.
    case open(reason: String, cause: String?)

    /// As a line of its file.
    func line(_ token: String) -> String {
        switch self {
        case .good: token
        case .invalid(let reason, let time, _): "\(token) \(reason) \(time)"
        case .open(let reason, let cause): token + " " + reason + (cause.map { " " + $0 } ?? "")
        }
    }
}
