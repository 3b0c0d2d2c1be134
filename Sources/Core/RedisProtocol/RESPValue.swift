/// One reply from Redis (RESP2).
package enum RESPValue: Equatable, Sendable {
    /// A status such as `OK`.
    case simple(String)
    case error(RESPServerError)
    case integer(Int64)
    case bulk([UInt8])
    case null
    case array([RESPValue])
}

/// An error reply: `code` is its first word (`ERR`, `OOM`, `NOSCRIPT`, …), and `message` is its whole line.
package struct RESPServerError: Error, Equatable, Sendable {
    package let code: String
    package let message: String

    package init(message: String) {
        self.message = message
        // Search bytes, not characters: Unicode may combine the space with the next character.
        code = String(decoding: message.utf8.prefix { $0 != UInt8(ascii: " ") }, as: UTF8.self)
    }
}

/// Each accessor returns nil if the reply has another type. In that case, the caller reports the type that it expected.
extension RESPValue {
    /// The reply as an integer, clamped to ±`WholeNumber.limit`.
    package var integer: Int64? {
        if case .integer(let value) = self { Int64(foreign: value) } else { nil }
    }

    package var bytes: [UInt8]? {
        switch self {
        case .bulk(let bytes): bytes
        case .simple(let text): Array(text.utf8)
        default: nil
        }
    }

    /// A bulk or simple string as text. Bytes that are not UTF-8 are replaced.
    package var text: String? {
        switch self {
        case .bulk(let bytes): String(decoding: bytes, as: UTF8.self)
        case .simple(let text): text
        default: nil
        }
    }

    package var array: [RESPValue]? {
        if case .array(let values) = self { values } else { nil }
    }

    /// The name-value pairs of a reply that alternates names and values, such as a hash or a stream entry. Empty if the reply is
    /// not an array.
    package var pairs: [(name: RESPValue, value: RESPValue)] {
        let words = array ?? []
        return stride(from: 0, to: words.count - 1, by: 2).map { (words[$0], words[$0 + 1]) }
    }

    /// The pairs as a dictionary of texts. If a name is repeated, the first value counts.
    package var fields: [String: String] {
        Dictionary(pairs.map { ($0.name.text ?? "", $0.value.text ?? "") }) { first, _ in first }
    }

    package var error: RESPServerError? {
        if case .error(let error) = self { error } else { nil }
    }

    /// Whether the reply contains an integer beyond `WholeNumber.limit`, so that ``integer`` differs from the integer in the
    /// reply.
    package var hasClampedNumber: Bool {
        switch self {
        case .integer(let value): value.magnitude > WholeNumber.limit.magnitude
        case .array(let values): values.contains(where: \.hasClampedNumber)
        case .simple, .error, .bulk, .null: false
        }
    }

    package var isNull: Bool { self == .null }
}

/// Why no more replies can be read from a connection.
package enum RESPError: Error, Equatable, Sendable {
    /// The bytes are not RESP2. The error text comes from hiredis and quotes at most one byte of the reply.
    case protocolError(String)
    case tooManyBytes(limit: Int)
    case tooManyElements(Int, limit: Int)
}
