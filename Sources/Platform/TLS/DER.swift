/// Just enough of DER to write and read certificate extensions.
enum DER {
    enum Tag {
        static let null: UInt8 = 0x05
        static let utf8String: UInt8 = 0x0C
        static let sequence: UInt8 = 0x30
        static let hostName: UInt8 = 0x82
        static let address: UInt8 = 0x87
    }

    static func element(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        guard content.count > 127 else { return [tag, UInt8(content.count)] + content }
        var length: [UInt8] = []
        var rest = content.count
        while rest > 0 {
            length.insert(UInt8(truncatingIfNeeded: rest), at: 0)
            rest >>= 8
        }
        return [tag, 0x80 | UInt8(length.count)] + length + content
    }

    /// The elements that follow each other in `bytes`, or nil if they are malformed.
    static func elements(_ bytes: ArraySlice<UInt8>) -> [(tag: UInt8, content: ArraySlice<UInt8>)]? {
        var found: [(tag: UInt8, content: ArraySlice<UInt8>)] = []
        var rest = bytes
        while let tag = rest.popFirst() {
            guard let first = rest.popFirst() else { return nil }
            var length = Int(first)
            if first >= 0x80 {
                let count = Int(first & 0x7F)
                guard (1...4).contains(count), rest.count >= count else { return nil }
                length = rest.prefix(count).reduce(0) { $0 << 8 | Int($1) }
                rest = rest.dropFirst(count)
            }
            guard rest.count >= length else { return nil }
            found.append((tag, rest.prefix(length)))
            rest = rest.dropFirst(length)
        }
        return found
    }
}
