package import PushModel

/// A batch's id, "NN.L.x": its shard, its lane, something unique.
package struct BatchID: Hashable, Sendable, CustomStringConvertible {
    package let bytes: [UInt8]

    package init(_ bytes: [UInt8]) { self.bytes = bytes }

    package var description: String { String(decoding: bytes, as: UTF8.self) }

    /// -1, which nobody owns, if it names none.
    package var shard: Int {
        let digits = bytes.prefix { $0 != UInt8(ascii: ".") }
        guard (1...4).contains(digits.count), digits.allSatisfy({ (0x30...0x39).contains($0) }) else {
            return -1
        }
        return digits.reduce(0) { $0 * 10 + Int($1) - 0x30 }
    }

    package var lane: Lane? {
        guard let dot = bytes.firstIndex(of: UInt8(ascii: ".")), dot + 1 < bytes.count else { return nil }
        return Lane(letter: bytes[dot + 1])
    }
}

/// The id of an entry of the results stream, "ms-number".
package struct EntryID: Hashable, Sendable, CustomStringConvertible {
    package let bytes: [UInt8]

    package init(_ bytes: [UInt8]) { self.bytes = bytes }

    package var description: String { String(decoding: bytes, as: UTF8.self) }
}
