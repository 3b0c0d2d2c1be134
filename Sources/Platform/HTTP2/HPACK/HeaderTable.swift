/// The encoder's copy of the peer's decoding tables (HPACK): the header fields that the peer already knows.
///
/// Strings are not Huffman-coded. Huffman coding would save few bytes per push, and would need more processor time on both sides
/// than all other steps of the encoding.
/// - Source: RFC 7541, sections 2.3, 4, 5 and 6.
struct HeaderTable {
    /// Name and value of a header field, for comparison.
    struct Pair: Hashable {
        var name: [UInt8]
        var value: [UInt8]

        /// The size that HPACK counts for the entry in the table.
        fileprivate var size: Int { name.count + value.count + 32 }
    }

    /// Identifies one state of one connection's table. Two tables never have the same generation, because several connections may
    /// use the same header list and would confuse equal generations.
    final class Generation {}

    /// The maximum size of the table in bytes, counted as in HPACK, until the peer sets a lower limit. If the peer sets a higher
    /// limit, this maximum stays.
    static let usualLimit = 4096

    private var limit = usualLimit
    /// Whether the limit was lowered, so that the next header block must tell the peer the new limit.
    private var isLimitNew = false
    /// The entries of the table, the oldest first.
    private var entries: [Pair] = []
    private var size = 0
    /// Changes when the table changes. Within one generation the same fields have the same encoding.
    private(set) var generation = Generation()

    /// Applies a limit of the peer if it is lower than the present limit. A later, higher limit of the peer has no effect.
    mutating func lower(to bytes: Int) {
        guard bytes < limit else { return }
        limit = bytes
        isLimitNew = true
        generation = Generation()
        evict(for: 0)
    }

    /// Writes a changed limit. The limit must be at the start of the next header block.
    mutating func writeLimit(to block: inout [UInt8]) {
        guard isLimitNew else { return }
        isLimitNew = false
        generation = Generation()
        Self.write(limit, prefix: 5, flags: 0x20, to: &block)
    }

    /// Appends a field in the shortest form. The field may be added to the table.
    mutating func write(_ pair: Pair, to block: inout [UInt8]) {
        let known = entries.lastIndex(of: pair).map { Self.staticEntries.count + entries.count - $0 }
        if let index = Self.staticEntries.firstIndex(of: pair).map({ $0 + 1 }) ?? known {
            return Self.write(index, prefix: 7, flags: 0x80, to: &block)
        }
        let name = Self.staticEntries.firstIndex { $0.name == pair.name }.map { $0 + 1 } ?? 0
        guard pair.size <= limit else { return Self.writeLiteral(pair, name: name, to: &block) }
        Self.write(name, prefix: 6, flags: 0x40, to: &block)
        if name == 0 { Self.write(pair.name, to: &block) }
        Self.write(pair.value, to: &block)
        evict(for: pair.size)
        entries.append(pair)
        size += pair.size
        generation = Generation()
    }

    private mutating func evict(for room: Int) {
        while size + room > limit, !entries.isEmpty { size -= entries.removeFirst().size }
    }

    /// Appends a field with the mark "never indexed": neither the peer nor a proxy may put the field into a compression table.
    static func writeUnindexed(_ pair: Pair, to block: inout [UInt8]) {
        writeUnindexed(name: pair.name, to: &block)
        write(pair.value, to: &block)
    }

    /// Appends only the name of a field with the mark "never indexed". The caller must append the value.
    static func writeUnindexed(name: [UInt8], to block: inout [UInt8]) {
        let index = staticEntries.firstIndex { $0.name == name }.map { $0 + 1 } ?? 0
        write(index, prefix: 4, flags: 0x10, to: &block)
        if index == 0 { write(name, to: &block) }
    }

    private static func writeLiteral(_ pair: Pair, name index: Int, to block: inout [UInt8]) {
        write(index, prefix: 4, flags: 0, to: &block)
        if index == 0 { write(pair.name, to: &block) }
        write(pair.value, to: &block)
    }

    private static func write(_ text: [UInt8], to block: inout [UInt8]) {
        write(text.count, prefix: 7, flags: 0, to: &block)
        block += text
    }

    /// Writes an integer into the low `prefix` bits of a byte, with `flags` in the other bits, and into further bytes if needed.
    static func write(_ number: Int, prefix: Int, flags: UInt8, to block: inout [UInt8]) {
        let most = 1 << prefix - 1
        guard number >= most else { return block.append(flags | UInt8(number)) }
        block.append(flags | UInt8(most))
        var rest = number - most
        while rest >= 128 {
            block.append(UInt8(rest & 127) | 128)
            rest >>= 7
        }
        block.append(UInt8(rest))
    }
}

extension HeaderTable {
    /// The static table that every peer knows. The first entry has the index 1.
    ///
    /// - Source: RFC 7541, appendix A.
    static let staticEntries: [Pair] = [
        (":authority", ""), (":method", "GET"), (":method", "POST"), (":path", "/"), (":path", "/index.html"),
        (":scheme", "http"), (":scheme", "https"), (":status", "200"), (":status", "204"), (":status", "206"),
        (":status", "304"), (":status", "400"), (":status", "404"), (":status", "500"),
        ("accept-charset", ""), ("accept-encoding", "gzip, deflate"), ("accept-language", ""),
        ("accept-ranges", ""), ("accept", ""), ("access-control-allow-origin", ""), ("age", ""),
        ("allow", ""), ("authorization", ""), ("cache-control", ""), ("content-disposition", ""),
        ("content-encoding", ""), ("content-language", ""), ("content-length", ""), ("content-location", ""),
        ("content-range", ""), ("content-type", ""), ("cookie", ""), ("date", ""), ("etag", ""),
        ("expect", ""), ("expires", ""), ("from", ""), ("host", ""), ("if-match", ""),
        ("if-modified-since", ""), ("if-none-match", ""), ("if-range", ""), ("if-unmodified-since", ""),
        ("last-modified", ""), ("link", ""), ("location", ""), ("max-forwards", ""),
        ("proxy-authenticate", ""), ("proxy-authorization", ""), ("range", ""), ("referer", ""),
        ("refresh", ""), ("retry-after", ""), ("server", ""), ("set-cookie", ""),
        ("strict-transport-security", ""), ("transfer-encoding", ""), ("user-agent", ""), ("vary", ""),
        ("via", ""), ("www-authenticate", ""),
    ].map { Pair(name: Array($0.0.utf8), value: Array($0.1.utf8)) }
}

/// One field of a header list that is used repeatedly. The name must be in lower case. In the list, the pseudo-header fields must
/// come first.
///
/// If `indexed` is false, the field has the mark "never indexed": neither this connection nor a later connection of a proxy keeps
/// the value in its compression table.
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

    /// A field whose value starts with `prefix`, followed by up to `capacity` bytes that may change. Until the caller sets the
    /// value, the header list does not contain the field.
    package static func changeable(
        _ name: String, prefix: String = "", capacity: Int, indexed: Bool = false
    ) -> HeaderField {
        HeaderField(name: name, value: .changeable(prefix: prefix, capacity: capacity), indexed: indexed)
    }

    /// A changeable field whose value differs in every message. Such a field is never added to the table.
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
    /// The maximum number of bytes after ``prefix``; nil if the value is fixed.
    var capacity: Int? {
        switch value {
        case .fixed: nil
        case .changeable(_, let capacity), .own(_, let capacity): capacity
        }
    }
}
