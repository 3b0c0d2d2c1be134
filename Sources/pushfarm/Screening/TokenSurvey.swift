import PushModel

/// What is in a file of tokens, from reading it once before anything is sent.
struct TokenSurvey: Sendable {
    struct Malformed: Equatable, Sendable {
        /// From 1.
        let line: Int
        let reason: String
    }

    /// Lines with a token, those that are there again included.
    private(set) var tokens = 0
    private(set) var malformedCount = 0
    /// The first of them.
    private(set) var malformed: [Malformed] = []
    /// Tells another content from this one.
    var fingerprint: UInt64 { hash.digest }

    /// Malformed lines that are named; the others are counted.
    static let named = 1000

    private var lines = 0
    private var hash = XXH64(seed: 0)

    init() {}

    static func of(_ file: String) throws(CommandFailure) -> TokenSurvey {
        var lines = try TextLines(file)
        guard lines.byteCount != nil else {
            throw .usage("\(file): is not a plain file: a screening reads it more than once")
        }
        var survey = TokenSurvey()
        while let line = try lines.next() { survey.add(line) }
        return survey
    }

    mutating func add(_ text: Substring) {
        lines += 1
        Self.add(text, to: &hash)
        switch ScreenedLine(text) {
        case .empty: break
        case .token: tokens += 1
        case .malformed(let reason):
            malformedCount += 1
            if malformed.count < Self.named { malformed.append(Malformed(line: lines, reason: reason)) }
        }
    }

    /// Adds a line to a fingerprint.
    static func add(_ text: Substring, to hash: inout XXH64) {
        var text = text
        text.withUTF8 { hash.update(UnsafeRawBufferPointer($0)) }
        hash.update(UInt8(ascii: "\n"))
    }
}
