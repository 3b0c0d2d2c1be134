import CNghttp2

/// A reusable list of header fields: made once, a few values swapped for each request or answer.
///
/// Names and fixed values are referred to, not copied, when a message is submitted; a session keeps the block
/// alive until they have been compressed. Changeable values are copied at submission, so they may be swapped
/// at once. Pseudo-header fields come first; names are lower case.
package final class HeaderBlock {
    /// One field. `indexed` false keeps its value out of the compression table of this and every next hop.
    package struct Field {
        let name: String
        let value: Value
        let indexed: Bool

        enum Value {
            case fixed(String)
            case changeable(prefix: String, capacity: Int)
            case borrowed
        }

        package static func fixed(_ name: String, _ value: String, indexed: Bool = true) -> Field {
            Field(name: name, value: .fixed(value), indexed: indexed)
        }

        /// A value that always starts with `prefix`, followed by up to `capacity` bytes that may be swapped.
        /// The field is left out until it is set.
        package static func changeable(
            _ name: String, prefix: String = "", capacity: Int, indexed: Bool = false
        ) -> Field {
            Field(name: name, value: .changeable(prefix: prefix, capacity: capacity), indexed: indexed)
        }

        /// A value that stays where its owner keeps it, see ``HeaderBlock/refer(_:to:)``. Left out until set.
        package static func borrowed(_ name: String, indexed: Bool = false) -> Field {
            Field(name: name, value: .borrowed, indexed: indexed)
        }
    }

    private struct Room {
        var prefix = 0
        var capacity = 0
        var isFixed = false
        var isPresent = false
    }

    private let storage: UnsafeMutableRawBufferPointer
    private let fields: UnsafeMutableBufferPointer<nghttp2_nv>
    private let packed: UnsafeMutableBufferPointer<nghttp2_nv>
    private let rooms: UnsafeMutableBufferPointer<Room>
    private var absent = 0

    package init(_ list: [Field]) {
        fields = .allocate(capacity: list.count)
        packed = .allocate(capacity: list.count)
        rooms = .allocate(capacity: list.count)
        storage = .allocate(byteCount: list.reduce(0) { $0 + $1.size }, alignment: 1)
        var next = 0
        for (index, field) in list.enumerated() {
            let name = place(field.name, at: &next)
            var flags = NGHTTP2_NV_FLAG_NO_COPY_NAME.rawValue
            if !field.indexed { flags |= NGHTTP2_NV_FLAG_NO_INDEX.rawValue }
            let value: UnsafeMutableRawBufferPointer
            switch field.value {
            case .fixed(let text):
                value = place(text, at: &next)
                flags |= NGHTTP2_NV_FLAG_NO_COPY_VALUE.rawValue
                rooms.initializeElement(at: index, to: Room(isFixed: true, isPresent: true))
            case .changeable(let prefix, let capacity):
                value = place(prefix, at: &next)
                next += capacity
                absent += 1
                rooms.initializeElement(
                    at: index, to: Room(prefix: prefix.utf8.count, capacity: capacity))
            case .borrowed:
                value = UnsafeMutableRawBufferPointer(start: nil, count: 0)
                absent += 1
                rooms.initializeElement(at: index, to: Room())
            }
            fields.initializeElement(
                at: index,
                to: nghttp2_nv(
                    name: name.baseAddress?.assumingMemoryBound(to: UInt8.self),
                    value: value.baseAddress?.assumingMemoryBound(to: UInt8.self),
                    namelen: name.count, valuelen: value.count, flags: UInt8(flags)))
        }
        _ = packed.initialize(fromContentsOf: fields)
    }

    deinit {
        fields.deallocate()
        packed.deallocate()
        rooms.deallocate()
        storage.deallocate()
    }

    /// Sets the changeable part of the field at `index` in the order of `init`.
    /// - Precondition: `bytes` fits the field's capacity.
    package func set(_ index: Int, _ bytes: UnsafeRawBufferPointer) {
        write(index) { room in
            precondition(bytes.count <= room.count, "header value longer than its field")
            room.copyMemory(from: bytes)
            return bytes.count
        }
    }

    package func set(_ index: Int, _ text: String) {
        var text = text
        text.withUTF8 { set(index, UnsafeRawBufferPointer($0)) }
    }

    /// Lets `fill` write the changeable part of the field in place; it returns how many bytes it wrote.
    package func write(_ index: Int, _ fill: (UnsafeMutableRawBufferPointer) -> Int) {
        let room = rooms[index]
        let start = UnsafeMutableRawPointer(fields[index].value!) + room.prefix
        let count = fill(UnsafeMutableRawBufferPointer(start: start, count: room.capacity))
        precondition(count >= 0 && count <= room.capacity, "header value longer than its field")
        fields[index].valuelen = room.prefix + count
        include(index)
    }

    /// Makes a borrowed field refer to `bytes`, which must stay valid until the message has been submitted.
    package func refer(_ index: Int, to bytes: UnsafeRawBufferPointer) {
        precondition(!rooms[index].isFixed && rooms[index].capacity == 0, "not a borrowed field")
        fields[index].value = UnsafeMutableRawPointer(mutating: bytes.baseAddress)?.assumingMemoryBound(
            to: UInt8.self)
        fields[index].valuelen = bytes.count
        include(index)
    }

    /// Leaves a field that is not fixed out until it is set again.
    package func omit(_ index: Int) {
        precondition(!rooms[index].isFixed, "a fixed field is always sent")
        guard rooms[index].isPresent else { return }
        rooms[index].isPresent = false
        absent += 1
    }

    /// The present fields, valid until the block is next changed.
    var present: UnsafeBufferPointer<nghttp2_nv> {
        if absent == 0 { return UnsafeBufferPointer(fields) }
        var count = 0
        for index in fields.indices where rooms[index].isPresent {
            packed[count] = fields[index]
            count += 1
        }
        return UnsafeBufferPointer(rebasing: packed[..<count])
    }

    private func include(_ index: Int) {
        guard !rooms[index].isPresent else { return }
        rooms[index].isPresent = true
        absent -= 1
    }

    private func place(_ text: String, at next: inout Int) -> UnsafeMutableRawBufferPointer {
        let count = text.utf8.count
        let target = UnsafeMutableRawBufferPointer(rebasing: storage[next..<next + count])
        target.copyBytes(from: text.utf8)
        next += count
        return UnsafeMutableRawBufferPointer(start: storage.baseAddress! + next - count, count: count)
    }
}

extension HeaderBlock.Field {
    fileprivate var size: Int {
        switch value {
        case .fixed(let text): name.utf8.count + text.utf8.count
        case .changeable(let prefix, let capacity): name.utf8.count + prefix.utf8.count + capacity
        case .borrowed: name.utf8.count
        }
    }
}
