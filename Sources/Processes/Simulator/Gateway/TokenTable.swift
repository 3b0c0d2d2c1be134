package import APNs
import PushModel

/// The states of device tokens. The rule of a single token has priority over the rule of the token's prefix. All other
/// tokens are valid.
///
/// A prefix has eight digits, so a random token matches one of the prefixes only once in 600 million.
struct TokenTable {
    /// The built-in prefixes. In a token that begins with `dead0001`, the next eight hexadecimal digits are the Unix time since
    /// which the token is unregistered.
    static let prefixes: [(digits: StaticString, meaning: String)] = [
        ("bad00000", "bad"), ("bad10000", "wrong-topic"), ("bad20000", "wrong-environment"),
        ("dead0000", "unregistered"), ("fade0000", "expired"), ("f100d000", "throttled"),
        ("e5000000", "error"), ("e5030000", "unavailable"), ("0ff00000", "silent"),
    ]
    private static let timedPrefix: StaticString = "dead0001"

    /// The rules by the first eight digits of the token, as a number.
    private var byPrefix: [UInt32: TokenRule] = [:]
    private let timed: UInt32
    /// The rules of single tokens, by a hash of the token. The key is a hash, so that a look-up does not copy the token
    /// into an array.
    private var single: [UInt64: [(token: [UInt8], rule: TokenRule)]] = [:]

    /// - Parameter since: when the tokens with built-in prefixes became unregistered, in seconds since 1970.
    init(deadSince since: Int64) {
        for (digits, word) in Self.prefixes {
            byPrefix[Self.prefix(of: digits.bytes)!] = TokenRule(word: word, since: since)!
        }
        timed = Self.prefix(of: Self.timedPrefix.bytes)!
    }

    /// - Parameter rule: the new rule; nil removes the rule of this token.
    mutating func set(_ token: [UInt8], _ rule: TokenRule?) {
        let hash = XXH64.hash(token, seed: 0)
        var entries = single[hash, default: []]
        entries.removeAll { $0.token == token }
        if let rule { entries.append((token, rule)) }
        single[hash] = entries.isEmpty ? nil : entries
    }

    /// - Parameter token: the token as well-formed hexadecimal digits.
    func rule(for token: UnsafeRawBufferPointer) -> TokenRule? {
        if !single.isEmpty, let bytes = Self.bytes(of: token),
            let rule = bytes.withUnsafeBytes({ singleRule(for: $0) })
        {
            return rule
        }
        guard let prefix = Self.prefix(of: token) else { return nil }
        if prefix == timed, token.count >= 16 {
            let time = UnsafeRawBufferPointer(rebasing: token[8..<16])
            return Self.prefix(of: time).map { .state(.unregistered(since: Int64($0) * 1000)) }
        }
        return byPrefix[prefix]
    }

    /// - Parameter token: the bytes of the token.
    func rule(forBytes token: UnsafeRawBufferPointer) -> TokenRule? {
        if !single.isEmpty, let rule = singleRule(for: token) { return rule }
        guard token.count >= 4 else { return nil }
        let prefix = UInt32(bigEndian: token.loadUnaligned(as: UInt32.self))
        if prefix == timed, token.count >= 8 {
            let time = UInt32(bigEndian: token.loadUnaligned(fromByteOffset: 4, as: UInt32.self))
            return .state(.unregistered(since: Int64(time) * 1000))
        }
        return byPrefix[prefix]
    }

    private func singleRule(for token: UnsafeRawBufferPointer) -> TokenRule? {
        single[XXH64.hash(token, seed: 0)]?.first { $0.token.elementsEqual(token) }?.rule
    }

    /// The first eight digits as a number; nil if there are fewer than eight digits, or if the text contains other
    /// characters.
    private static func prefix(of digits: UnsafeRawBufferPointer) -> UInt32? {
        guard digits.count >= 8 else { return nil }
        let eight = digits.loadUnaligned(as: UInt64.self)
        return Hexadecimal.fourBytes(UInt64(littleEndian: eight))?.byteSwapped
    }

    /// The bytes that the hexadecimal digits give; nil if the text is empty or contains other characters.
    static func bytes(of digits: some Collection<UInt8>) -> [UInt8]? {
        digits.isEmpty ? nil : Hexadecimal.bytes(of: digits)
    }
}

extension StaticString {
    var bytes: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: utf8Start, count: utf8CodeUnitCount)
    }
}

/// How the gateway treats pushes to a device token, or to all tokens with a prefix.
package enum TokenRule: Hashable, Sendable {
    case state(TokenState)
    /// Pushes to these tokens fail with this reason, as if the gateway had a fault.
    case trouble(Reason)
    case silent

    /// Reads a word of a token file or of the `token` command.
    ///
    /// - Parameters:
    ///   - since: when the token became unregistered or expired, in seconds since 1970.
    init?(word: some StringProtocol, since: Int64) {
        // Beyond this bound, the conversion to milliseconds would overflow.
        guard since.magnitude < 1 << 50 else { return nil }
        switch word {
        case "valid": self = .state(.valid)
        case "bad": self = .state(.unknown)
        case "wrong-topic": self = .state(.otherTopic)
        case "wrong-environment": self = .state(.otherEnvironment)
        case "unregistered": self = .state(.unregistered(since: since * 1000))
        case "expired": self = .state(.expired(since: since * 1000))
        case "throttled": self = .state(.throttled)
        case "error": self = .trouble(.internalServerError)
        case "unavailable": self = .trouble(.serviceUnavailable)
        case "silent": self = .silent
        default: return nil
        }
    }

    static let words = [
        "valid", "bad", "wrong-topic", "wrong-environment", "unregistered", "expired", "throttled", "error",
        "unavailable", "silent",
    ]
}

/// A file of device tokens. Each line is `TOKEN STATE [SINCE]`; `#` starts a comment.
///
/// STATE is one of ``TokenRule/words``; SINCE is a time as in ``TimeText/since(_:now:)``, by default a day before the start.
enum TokenFile {
    /// - Parameter now: the present time in seconds since 1970.
    static func read(_ path: String, into table: inout TokenTable, now: Int64) throws(SimulatorError) {
        let text = String(decoding: try SimulatorFile.read(path, limit: .max), as: UTF8.self)
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            var words = FaultWords(line.prefix { $0 != "#" })
            guard !words.isEmpty else { continue }
            let place = "\(path), line \(index + 1)"
            guard (2...3).contains(words.count) else {
                throw .unusable("\(place): not \"TOKEN STATE [SINCE]\"")
            }
            do throws(SimulatorError) {
                let (token, rule) = try words.tokenRule(since: now - 86_400, now: now * 1000)
                table.set(token, rule)
            } catch { throw .unusable("\(place): \(error)") }
        }
    }
}

/// The state of a device token for a topic.
package enum TokenState: Hashable, Sendable {
    case valid
    /// The gateway does not know the token, or the token is malformed.
    case unknown
    case otherTopic
    case otherEnvironment
    /// The token is unregistered since the time `since`, in milliseconds since 1970.
    case unregistered(since: Int64)
    /// The token is expired since the time `since`, in milliseconds since 1970.
    case expired(since: Int64)
    case throttled

    /// Why a push to the token is refused; nil if the push is accepted.
    package var refusal: (reason: Reason, timestamp: Int64?)? {
        switch self {
        case .valid: nil
        case .unknown, .otherEnvironment: (.badDeviceToken, nil)
        case .otherTopic: (.deviceTokenNotForTopic, nil)
        case .unregistered(let since): (.unregistered, since)
        case .expired(let since): (.expiredToken, since)
        case .throttled: (.tooManyRequests, nil)
        }
    }
}
