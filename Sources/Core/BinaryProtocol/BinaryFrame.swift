/// One notification to send. Token and payload point to memory of the caller.
package struct BinaryNotification {
    package var token: UnsafeRawBufferPointer
    package var payload: UnsafeRawBufferPointer
    package var identifier: UInt32
    /// The expiration in seconds since 1970. 0 means that the gateway must not store the notification; nil means that the gateway
    /// stores the notification as long as possible.
    package var expiration: UInt32?
    /// The priority, 10 or 5; nil means the gateway's default, which is 10.
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

    /// The length of the notification's frame in bytes.
    package func length(as command: BinaryCommand) -> Int {
        let content = token.count + payload.count
        return switch command {
        case .simple: 5 + content
        case .enhanced: 13 + content
        case .framed: Self.head + itemsLength
        }
    }

    /// Writes the notification's frame, big-endian.
    ///
    /// | command | frame |
    /// |---|---|
    /// | 0 | 0, token length u16, token, payload length u16, payload |
    /// | 1 | 1, identifier u32, expiration u32, token length u16, token, payload length u16, payload |
    /// | 2 | 2, length u32, items: id u8, length u16, data; 1 token, 2 payload, 3 identifier, 4 expiration, 5 priority |
    ///
    /// Fields that a command does not support are omitted. Command 1 requires an expiration, so a nil expiration is sent
    /// as the latest time that every gateway understands.
    /// - Parameter space: memory with room for ``length(as:)`` bytes.
    /// - Returns: the number of bytes written.
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

        /// Writes a length of two bytes, then the bytes.
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

/// The result of reading the first frame of the bytes that a client sent.
package enum BinaryFrame {
    /// The frame is not complete yet.
    case incomplete
    /// A complete frame of `length` bytes. Its token and payload point into the bytes that were read, and the sizes of token
    /// and payload are not checked yet.
    case notification(BinaryNotification, command: BinaryCommand, length: Int)
    /// A malformed frame. The identifier is 0 if the frame is malformed before its identifier; `length` is nil if the end of the
    /// frame is unknown.
    case unreadable(identifier: UInt32, length: Int?)
    /// The first byte is not a known command.
    case unknownCommand(UInt8)

    /// The largest accepted content of a command 2 frame, in bytes.
    package static let longestItems = 1 << 17

    /// Reads the first frame of `bytes`.
    ///
    /// A token or payload that is absent from a command 2 frame is empty in the notification.
    package init(readingFrontOf bytes: UnsafeRawBufferPointer) {
        guard let first = bytes.first else {
            self = .incomplete
            return
        }
        var reader = Reader(bytes: bytes, offset: 1)
        switch BinaryCommand(rawValue: first) {
        case nil: self = .unknownCommand(first)
        case .simple: self = reader.whole(.simple, identifier: 0, expiration: nil)
        case .enhanced:
            guard let identifier: UInt32 = reader.number(), let expiration: UInt32 = reader.number() else {
                self = .incomplete
                return
            }
            self = reader.whole(.enhanced, identifier: identifier, expiration: expiration)
        case .framed: self = reader.framed()
        }
    }

    private struct Reader {
        let bytes: UnsafeRawBufferPointer
        var offset: Int

        mutating func number<T: FixedWidthInteger & BitwiseCopyable>() -> T? {
            let size = MemoryLayout<T>.size
            guard size <= bytes.count - offset else { return nil }
            defer { offset += size }
            return T(bigEndian: bytes.loadUnaligned(fromByteOffset: offset, as: T.self))
        }

        /// Reads a length in two bytes, then that number of bytes.
        mutating func counted() -> UnsafeRawBufferPointer? {
            guard let count: UInt16 = number(), Int(count) <= bytes.count - offset else { return nil }
            defer { offset += Int(count) }
            return UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + Int(count)])
        }

        mutating func whole(
            _ command: BinaryCommand, identifier: UInt32, expiration: UInt32?
        ) -> BinaryFrame {
            guard let token = counted(), let payload = counted() else { return .incomplete }
            return .notification(
                BinaryNotification(
                    token: token, payload: payload, identifier: identifier, expiration: expiration),
                command: command, length: offset)
        }

        mutating func framed() -> BinaryFrame {
            guard let length: UInt32 = number() else { return .incomplete }
            guard length <= BinaryFrame.longestItems else { return .unreadable(identifier: 0, length: nil) }
            let end = offset + Int(length)
            guard end <= bytes.count else { return .incomplete }
            var items = Reader(bytes: UnsafeRawBufferPointer(rebasing: bytes[..<end]), offset: offset)
            let none = UnsafeRawBufferPointer(rebasing: bytes[end..<end])
            var found = BinaryNotification(token: none, payload: none, identifier: 0)
            // One bit per kind of item that was read, because each kind of item may occur only once in a frame.
            var seen: UInt8 = 0
            while items.offset < end {
                guard let byte: UInt8 = items.number(), let item = BinaryItem(rawValue: byte),
                    seen & 1 << byte == 0, let data = items.counted(), Self.take(item, data, into: &found)
                else { return .unreadable(identifier: found.identifier, length: end) }
                seen |= 1 << byte
            }
            return .notification(found, command: .framed, length: end)
        }

        private static func take(
            _ item: BinaryItem, _ data: UnsafeRawBufferPointer, into found: inout BinaryNotification
        ) -> Bool {
            func number<T: FixedWidthInteger & BitwiseCopyable>() -> T? {
                data.count == MemoryLayout<T>.size ? T(bigEndian: data.loadUnaligned(as: T.self)) : nil
            }
            switch item {
            case .token: found.token = data
            case .payload: found.payload = data
            case .identifier:
                guard let identifier: UInt32 = number() else { return false }
                found.identifier = identifier
            case .expiration:
                guard let expiration: UInt32 = number() else { return false }
                found.expiration = expiration
            case .priority:
                guard let priority: UInt8 = number() else { return false }
                found.priority = priority
            }
            return true
        }
    }
}
