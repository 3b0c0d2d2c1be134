/// One reply of Redis (RESP2).
package enum RESPValue: Equatable, Sendable {
    /// A status such as `OK`.
    case simple(String)
    case error(RESPServerError)
    case integer(Int64)
    case bulk([UInt8])
    case null
    case array([RESPValue])
}

/// An error reply. `code` is its first word (`ERR`, `OOM`, `NOSCRIPT`, …), `message` the whole line.
package struct RESPServerError: Error, Equatable, Sendable {
    package let code: String
    package let message: String

    package init(message: String) {
        self.message = message
        // Bytes, not characters: what follows the space may be a mark that joins it.
        code = String(decoding: message.utf8.prefix { $0 != UInt8(ascii: " ") }, as: UTF8.self)
    }
}

/// Accessors answer nil when the reply is of another kind: the caller names the expectation.
extension RESPValue {
    /// The nearest number within `ForeignNumber.limit`.
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

    /// A bulk or simple string as text; bytes that are not UTF-8 are repaired.
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

    /// Names and values in turns, in their order: a hash, or what an entry of a stream has. Empty if it is no array.
    package var pairs: [(name: RESPValue, value: RESPValue)] {
        let words = array ?? []
        return stride(from: 0, to: words.count - 1, by: 2).map { (words[$0], words[$0 + 1]) }
    }

    /// The same as texts; of a name that comes twice the first counts.
    package var fields: [String: String] {
        Dictionary(pairs.map { ($0.name.text ?? "", $0.value.text ?? "") }) { first, _ in first }
    }

    package var error: RESPServerError? {
        if case .error(let error) = self { error } else { nil }
    }

    /// A whole number in it is beyond `ForeignNumber.limit`, and ``integer`` is another one.
    package var hasClampedNumber: Bool {
        switch self {
        case .integer(let value): value.magnitude > ForeignNumber.limit.magnitude
        case .array(let values): values.contains(where: \.hasClampedNumber)
        case .simple, .error, .bulk, .null: false
        }
    }

    package var isNull: Bool { self == .null }
}

/// Why a stream of replies cannot be read on.
package enum RESPError: Error, Equatable, Sendable {
    /// The bytes are not RESP2; the text is hiredis's and names at most the one byte that is wrong.
    case protocolError(String)
    case tooManyBytes(limit: Int)
    case tooManyElements(Int, limit: Int)
}
