import PushModel

/// The facts about a token file. One read of the file collects them before the first push is sent.
struct TokenSurvey: Sendable {
    struct Malformed: Equatable, Sendable {
        /// The line number, from 1.
        let line: Int
        let reason: String
    }

    /// Lines with a token, duplicates included.
    private(set) var tokens = 0
    private(set) var malformedCount = 0
    /// The first malformed lines.
    private(set) var malformed: [Malformed] = []
    /// A hash of the content, to detect a changed file.
    var fingerprint: UInt64 { hash.digest }

    /// The most malformed lines to name. Further malformed lines are only counted.
    static let named = 1000

    private var lines = 0
    private var hash = XXH64(seed: 0)

    init() {}

    static func of(_ file: String) throws(CommandFailure) -> TokenSurvey {
        var lines = try TextLines(file)
        guard lines.byteCount != nil else {
            throw .usage("\(file): is not a regular file; a screening must read the file more than once")
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

/// The content of one line of a token file.
enum ScreenedLine: Equatable {
    /// An empty line, or a comment after "#".
    case empty
    case token([UInt8])
    case malformed(reason: String)

    /// Reads the first word as the token. Later words are ignored, so a screening can also read the files that an
    /// earlier screening wrote.
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

/// The tokens seen so far. A hash divides all tokens into parts, and this set contains only tokens of one part.
///
/// The set has a 128-bit hash of each token. Among a million tokens, two different tokens have the same hash
/// with a probability of 10⁻²⁷.
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

    enum Membership: Equatable {
        case new
        case repeated
        /// The token does not belong to the part of all tokens that this set compares.
        case otherPart
    }

    mutating func take(_ token: [UInt8]) -> Membership {
        let low = XXH64.hash(token, seed: 0)
        guard Int(low % UInt64(parts)) == part else { return .otherPart }
        return keys.insert(Key(low: low, high: XXH64.hash(token, seed: 1))).inserted ? .new : .repeated
    }
}
