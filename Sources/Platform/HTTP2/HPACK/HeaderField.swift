/// One field of a header list that is used again and again. Names are lower case; pseudo-header fields come first.
///
/// `indexed` false keeps its value out of the compression table of this and every next hop.
package struct HeaderField {
    let name: String
    let value: Value
    let indexed: Bool

    enum Value {
        case fixed(String)
        case changeable(prefix: String, capacity: Int)
        case own(prefix: String, capacity: Int)
    }

    package static func fixed(_ name: String, _ value: String, indexed: Bool = true) -> HeaderField {
        HeaderField(name: name, value: .fixed(value), indexed: indexed)
    }

    /// A value that always starts with `prefix`, followed by up to `capacity` bytes that may be swapped.
    /// The field is left out until it is set.
    package static func changeable(
        _ name: String, prefix: String = "", capacity: Int, indexed: Bool = false
    ) -> HeaderField {
        HeaderField(name: name, value: .changeable(prefix: prefix, capacity: capacity), indexed: indexed)
    }

    /// The same, for a value that every message has of its own; never indexed.
    package static func own(_ name: String, prefix: String = "", capacity: Int) -> HeaderField {
        HeaderField(name: name, value: .own(prefix: prefix, capacity: capacity), indexed: false)
    }

    var isPseudo: Bool { name.utf8.first == UInt8(ascii: ":") }
    var prefix: String {
        switch value {
        case .fixed(let text): text
        case .changeable(let prefix, _), .own(let prefix, _): prefix
        }
    }
    /// Bytes that may follow ``prefix``; nil if the value is fixed.
    var capacity: Int? {
        switch value {
        case .fixed: nil
        case .changeable(_, let capacity), .own(_, let capacity): capacity
        }
    }
}
