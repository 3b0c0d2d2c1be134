import PushModel

/// The tokens of a file in chunks. Each token appears once, and the same file always gives the same chunks.
///
/// A hash divides the tokens into parts of about ``portion`` tokens, so that duplicates are in the same part. The file
/// is read once for each part.
struct TokenChunks: ~Copyable {
    struct Chunk: Equatable, Sendable {
        /// The chunk's number, from 0.
        let number: Int
        /// The tokens in lower-case hex.
        let tokens: [String]
    }

    static let portion = 1 << 20

    private let file: String
    private let survey: TokenSurvey
    private let size: Int
    private let parts: Int
    private var part = -1
    private var lines: TextLines?
    private var seen: SeenTokens
    private var hash = XXH64(seed: 0)
    private var number = 0
    /// The duplicates so far.
    private(set) var duplicates = 0

    init(file: String, survey: TokenSurvey, size: Int, portion: Int = Self.portion) {
        (self.file, self.survey, self.size) = (file, survey, size)
        parts = max(1, (survey.tokens + portion - 1) / portion)
        seen = SeenTokens(part: 0, of: 1, expected: 0)
    }

    /// The next chunk, or nil after the last chunk.
    /// - Throws: an error when the file cannot be read, or when it has changed since the survey.
    mutating func next() throws(CommandFailure) -> Chunk? {
        var tokens: [String] = []
        while true {
            while tokens.count < size, let line = try nextLine() {
                guard case .token(let token) = ScreenedLine(line) else { continue }
                switch seen.take(token) {
                case .new: tokens.append(Hexadecimal.text(of: token))
                case .repeated: duplicates += 1
                case .otherPart: break
                }
            }
            if !tokens.isEmpty { break }
            guard part + 1 < parts else { return nil }
            try begin(part + 1)
        }
        defer { number += 1 }
        return Chunk(number: number, tokens: tokens)
    }

    private mutating func begin(_ next: Int) throws(CommandFailure) {
        part = next
        seen = SeenTokens(part: part, of: parts, expected: survey.tokens / parts * 17 / 16)
        hash = XXH64(seed: 0)
        lines = try TextLines(file)
    }

    private mutating func nextLine() throws(CommandFailure) -> Substring? {
        guard let line = try lines?.next() else {
            let wasOpen = lines != nil
            lines = nil
            guard !wasOpen || hash.digest == survey.fingerprint else {
                throw .failed("\(file) was changed while it was read")
            }
            return nil
        }
        TokenSurvey.add(line, to: &hash)
        return line
    }
}
