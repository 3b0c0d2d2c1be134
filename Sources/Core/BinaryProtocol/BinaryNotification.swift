/// One notification, as it is sent; token and payload are borrowed.
package struct BinaryNotification {
    package var token: UnsafeRawBufferPointer
    package var payload: UnsafeRawBufferPointer
    package var identifier: UInt32
    /// Seconds since 1970; 0: not to be stored; nil: as long as the gateway stores.
    package var expiration: UInt32?
    /// 10 or 5; nil: the gateway's own, which is 10.
    package var priority: UInt8?

    package init(
        token: UnsafeRawBufferPointer, payload: UnsafeRawBufferPointer, identifier: UInt32,
        expiration: UInt32? = nil, priority: UInt8? = nil
    ) {
        self.token = token
        self.payload = payload
        self.identifier = identifier
        self.expiration = expiration
        self.priority = priority
    }

    /// Bytes of its frame.
    package func length(as command: BinaryCommand) -> Int {
        let content = token.count + payload.count
        return switch command {
        case .simple: 5 + content
        case .enhanced: 13 + content
        case .framed: Self.head + itemsLength
        }
    }

    /// Writes its frame, big-endian.
    ///
    /// | command | frame |
    /// |---|---|
    /// | 0 | 0, token length u16, token, payload length u16, payload |
    /// | 1 | 1, identifier u32, expiration u32, token length u16, token, payload length u16, payload |
    /// | 2 | 2, length u32, items: id u8, length u16, data; 1 token, 2 payload, 3 identifier, 4 expiration, 5 priority |
    ///
    /// What a command has no place for is left out; command 1, which must name an expiration, gets the farthest that every
    /// gateway understands.
    /// - Parameter space: with room for ``length(as:)`` bytes.
    /// - Returns: the bytes written.
    @discardableResult
    package func write(as command: BinaryCommand, to space: UnsafeMutableRawBufferPointer) -> Int {
        var writer = Writer(space: space)
        writer.put(command.rawValue)
        switch command {
        case .simple:
            writer.put(counted: token)
            writer.put(counted: payload)
        case .enhanced:
            writer.put(identifier)
            writer.put(expiration ?? UInt32(Int32.max))
            writer.put(counted: token)
            writer.put(counted: payload)
        case .framed:
            writer.put(UInt32(itemsLength))
            writer.put(BinaryItem.token.rawValue)
            writer.put(counted: token)
            writer.put(BinaryItem.payload.rawValue)
            writer.put(counted: payload)
            writer.put(.identifier, identifier)
            if let expiration { writer.put(.expiration, expiration) }
            if let priority { writer.put(.priority, priority) }
        }
        return writer.count
    }

    private static let head = 5

    private var itemsLength: Int {
        3 + token.count + 3 + payload.count + 7 + (expiration == nil ? 0 : 7) + (priority == nil ? 0 : 4)
    }

    private struct Writer {
        let space: UnsafeMutableRawBufferPointer
        var count = 0

        @inline(__always)
        mutating func put<T: FixedWidthInteger & BitwiseCopyable>(_ value: T) {
            space.storeBytes(of: value.bigEndian, toByteOffset: count, as: T.self)
            count += MemoryLayout<T>.size
        }

        /// A length of two bytes, then the bytes.
        @inline(__always)
        mutating func put(counted bytes: UnsafeRawBufferPointer) {
            put(UInt16(bytes.count))
            UnsafeMutableRawBufferPointer(rebasing: space[count...]).copyMemory(from: bytes)
            count += bytes.count
        }

        mutating func put<T: FixedWidthInteger & BitwiseCopyable>(_ item: BinaryItem, _ value: T) {
            put(item.rawValue)
            put(UInt16(MemoryLayout<T>.size))
            put(value)
        }
    }
}

/// The items of a command 2 frame.
enum BinaryItem: UInt8 {
    case token = 1
    case payload = 2
    case identifier = 3
    case expiration = 4
    case priority = 5
}
