/// One condition of a segment, such as `tag:sport`, `zone:Europe/*` or `seen<30d`.
package enum SegmentTerm: Hashable, Sendable {
    /// The device has this value of the attribute.
    case value(Attribute, String)
    /// The device has a value of the attribute that starts with this text.
    case prefix(Attribute, String)
    /// The device was last seen fewer days ago than this number, 1...3650. `seen<1d` is today.
    case seenWithin(days: Int)

    /// An attribute of devices. The registry has one bitmap for each value of the attribute.
    package enum Attribute: String, CaseIterable, Sendable {
        case tag, platform, service, environment, zone, lang, app, os, model, reachability, network
    }

    package static let days = 1...3650
}

extension SegmentTerm: CustomStringConvertible {
    /// The term as it is written in an expression. Values with special characters are quoted.
    package var description: String {
        switch self {
        case .value(let attribute, let text): "\(attribute.rawValue):\(Self.quoted(text))"
        case .prefix(let attribute, ""): "\(attribute.rawValue):*"
        case .prefix(let attribute, let text): "\(attribute.rawValue):\(Self.quoted(text))*"
        case .seenWithin(let days): "seen<\(days)d"
        }
    }

    private static func quoted(_ text: String) -> String {
        guard text.isEmpty || text.utf8.contains(where: { !isPlain($0) }) else { return text }
        // Change scalars, not characters: Unicode may combine a quotation mark with the next character.
        var escaped = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            if scalar == "\"" || scalar == "\\" { escaped.append("\\") }
            escaped.append(scalar)
        }
        return "\"" + String(escaped) + "\""
    }

    /// Whether the byte can stand in a value without quotes.
    static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), 0x80...:
            true
        default: [UInt8]("-_./+@#".utf8).contains(byte)
        }
    }
}
