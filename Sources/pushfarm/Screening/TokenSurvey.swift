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

/// What a line of a file of tokens says.
enum ScreenedLine: Equatable {
    /// Nothing, or a remark after "#".
    case empty
    case token([UInt8])
    case malformed(reason: String)

    /// A token is the first word; what stands behind it, as in the files that a screening writes, is passed over.
    init(_ text: Substring) {
        guard let word = text.split(maxSplits: 1, whereSeparator: \.isWhitespace).first, word.first != "#"
        else {
            self = .empty
            return
        }
        do {
            self = .token(try DeviceToken.bytes(of: word))
        } catch {
            self = .malformed(reason: error.description)
        }
    }
}

/// Which tokens came before, of the part of all tokens that is looked at.
///
/// A token is known by 128 bits of hash: two of a million are taken for one with a probability of 10⁻²⁷.
struct SeenTokens {
    private struct Key: Hashable {
        let low: UInt64
        let high: UInt64
    }

    private var keys: Set<Key> = []
    private let part: Int
    private let parts: Int

    init(part: Int, of parts: Int, expected: Int) {
        (self.part, self.parts) = (part, parts)
        keys.reserveCapacity(expected)
    }

    enum Answer: Equatable {
        case new
        case again
        /// Of another part.
        case foreign
    }

    mutating func take(_ token: [UInt8]) -> Answer {
        let low = XXH64.hash(token, seed: 0)
        guard Int(low % UInt64(parts)) == part else { return .foreign }
        return keys.insert(Key(low: low, high: XXH64.hash(token, seed: 1))).inserted ? .new : .again
    }
}
