import PushModel

/// The words of a command line. The words are read from the front; a `name=value` word can be at any position.
struct FaultWords {
    private var words: [Substring]

    init(_ line: some StringProtocol) {
        words = Substring(line).split { $0 == " " || $0 == "\t" || $0 == "\r" || $0 == "\n" }
    }

    var isEmpty: Bool { words.isEmpty }
    var count: Int { words.count }

    /// Whether the next word is `name=value`.
    var nextIsNamed: Bool { words.first?.contains("=") ?? false }

    /// - Parameter what: a description of the expected word for the error message.
    mutating func next(_ what: String) throws(SimulatorError) -> String {
        guard !words.isEmpty else { throw .unusable("expected \(what)") }
        return String(words.removeFirst())
    }

    mutating func take(_ word: String) -> Bool {
        guard words.first.map({ $0 == word }) ?? false else { return false }
        words.removeFirst()
        return true
    }

    /// Reads the next word, which must be one of two words.
    /// - Returns: true for the first word.
    mutating func choice(_ first: String, or second: String) throws(SimulatorError) -> Bool {
        let word = try next("\(first) or \(second)")
        guard word == first || word == second else {
            throw .unusable("\"\(word)\" is not \(first) or \(second)")
        }
        return word == first
    }

    /// Reads the value of `name=value` from any position.
    /// - Parameter mayBeEmpty: true allows an empty value after `=`.
    mutating func value(of name: String, mayBeEmpty: Bool = false) throws(SimulatorError) -> String? {
        guard let index = words.firstIndex(where: { $0.hasPrefix(name + "=") }) else { return nil }
        let value = words.remove(at: index).dropFirst(name.utf8.count + 1)
        let isWord = value.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f && $0 != 0x22 && $0 != 0x5c }
        guard mayBeEmpty || !value.isEmpty, isWord else { throw .unusable("\(name)= wants a word") }
        return String(value)
    }

    mutating func count(in range: ClosedRange<Int>) throws(SimulatorError) -> Int {
        let word = try next("a number")
        guard let number = Int(word), range.contains(number) else {
            throw .unusable("\"\(word)\" is not a number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    /// Reads a time in seconds since 1970 that fits in 32 bits. Returns `usual` if there are no more words.
    ///
    /// - Parameter now: the present time in milliseconds since 1970.
    mutating func since(_ usual: Int64, now: Int64) throws(SimulatorError) -> Int64 {
        guard !isEmpty else { return usual }
        let word = try next("a time")
        guard let seconds = TimeText.since(word, now: now / 1000) else {
            throw .unusable(
                "\"\(word)\" is not a time: Unix seconds, 2026-05-01T10:00:00Z, or 3d for three days ago")
        }
        return seconds
    }

    mutating func token() throws(SimulatorError) -> [UInt8] {
        guard let token = TokenTable.bytes(of: try next("a token").utf8) else {
            throw .unusable("the token is not hexadecimal")
        }
        return token
    }

    /// Reads a token, and then either `forget` or the token's state and the time when the state began.
    mutating func tokenRule(
        since usual: Int64, now: Int64
    ) throws(SimulatorError) -> (token: [UInt8], rule: TokenRule?) {
        let token = try token()
        if take("forget") { return (token, nil) }
        let state = try next("a state")
        guard let rule = TokenRule(word: state, since: try since(usual, now: now)) else {
            throw .unusable(
                "no state \"\(state)\"; the states are \(TokenRule.words.joined(separator: ", "))")
        }
        return (token, rule)
    }

    mutating func share() throws(SimulatorError) -> Double {
        try Self.share(try next("a share, such as 5% or 0.05"))
    }

    /// Reads a duration in whole milliseconds.
    mutating func time() throws(SimulatorError) -> Int64 {
        Int64(try Self.milliseconds(try next("a time, such as 10s")))
    }

    func end() throws(SimulatorError) {
        if let word = words.first { throw .unusable("\"\(word)\" was not expected here") }
    }

    static func share(_ word: String) throws(SimulatorError) -> Double {
        let isPercent = word.hasSuffix("%")
        let number = Double(isPercent ? word.dropLast() : word[...]).map { isPercent ? $0 / 100 : $0 }
        guard let number, number >= 0, number <= 1 else {
            throw .unusable("\"\(word)\" is not a share, such as 5% or 0.05")
        }
        return number
    }

    static func milliseconds(_ word: some StringProtocol) throws(SimulatorError) -> Double {
        let units: [(String, Double)] = [("ms", 1), ("s", 1_000), ("m", 60_000), ("h", 3_600_000)]
        for (unit, scale) in units where word.hasSuffix(unit) {
            guard let number = Double(word.dropLast(unit.count)), number >= 0, number < 1e9 else { break }
            return number * scale
        }
        throw .unusable("\"\(word)\" is not a time, such as 500ms, 10s, 2m or 1h")
    }
}
