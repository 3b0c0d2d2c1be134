import APNs
import PushModel

/// What the gateway knows of device tokens: single ones first, then prefixes; all others are valid.
///
/// The prefixes have eight digits, so that a random token has one of them once in 600 million.
struct TokenTable {
    /// The prefixes that always work. `dead0001` is followed by eight more digits: the Unix time in
    /// hexadecimal since when the token is unregistered.
    static let prefixes: [(digits: StaticString, meaning: String)] = [
        ("bad00000", "bad"), ("bad10000", "wrong-topic"), ("bad20000", "wrong-environment"),
        ("dead0000", "unregistered"), ("fade0000", "expired"), ("f100d000", "throttled"),
        ("e5000000", "error"), ("e5030000", "unavailable"), ("0ff00000", "silent"),
    ]
    private static let timedPrefix: StaticString = "dead0001"

    /// By the first eight digits, read as a number.
    private var byPrefix: [UInt32: TokenRule] = [:]
    private let timed: UInt32
    /// By hash, so that bytes need not become an array to be looked up.
    private var single: [UInt64: [(token: [UInt8], rule: TokenRule)]] = [:]

    /// - Parameter since: when the tokens behind prefixes died, seconds since 1970.
    init(deadSince since: Int64) {
        for (digits, word) in Self.prefixes {
            byPrefix[Self.prefix(of: digits.bytes)!] = TokenRule(word: word, since: since)!
        }
        timed = Self.prefix(of: Self.timedPrefix.bytes)!
    }

    /// - Parameter token: hexadecimal of either case; false if it is not.
    @discardableResult
    mutating func set(_ token: some StringProtocol, _ rule: TokenRule?) -> Bool {
        guard let bytes = Self.bytes(of: token.utf8) else { return false }
        let hash = bytes.withUnsafeBytes { XXH64.hash($0, seed: 0) }
        var entries = single[hash, default: []]
        entries.removeAll { $0.token == bytes }
        if let rule { entries.append((bytes, rule)) }
        single[hash] = entries.isEmpty ? nil : entries
        return true
    }

    /// - Parameter token: well-formed hexadecimal.
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

    /// - Parameter token: its bytes.
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

    /// The first eight digits as a number; nil if there are fewer, or others.
    private static func prefix(of digits: UnsafeRawBufferPointer) -> UInt32? {
        guard digits.count >= 8 else { return nil }
        var value: UInt32 = 0
        for index in 0..<8 {
            guard let digit = Hexadecimal.value(of: digits[index]) else { return nil }
            value = value << 4 | UInt32(digit)
        }
        return value
    }

    static func bytes(of digits: some Collection<UInt8>) -> [UInt8]? {
        let digits = Array(digits)
        guard !digits.isEmpty, digits.count.isMultiple(of: 2) else { return nil }
        return digits.withUnsafeBytes { digits in
            var bytes = [UInt8](repeating: 0, count: digits.count / 2)
            let isRead = bytes.withUnsafeMutableBytes { Hexadecimal.read(digits, to: $0) != nil }
            return isRead ? bytes : nil
        }
    }
}

extension StaticString {
    var bytes: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: utf8Start, count: utf8CodeUnitCount)
    }
}
