import CNghttp2

/// A reusable list of an answer's header fields: made once, a few values swapped for each answer.
///
/// Names and fixed values are referred to, not copied, when an answer is submitted; a session keeps the block
/// alive until they have been compressed. Changeable values are copied at submission, so they may be swapped
/// at once.
package final class HeaderBlock {
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

    package init(_ list: [HeaderField]) {
        fields = .allocate(capacity: list.count)
        packed = .allocate(capacity: list.count)
        rooms = .allocate(capacity: list.count)
        storage = .allocate(
            byteCount: list.reduce(0) { $0 + $1.name.utf8.count + $1.prefix.utf8.count + ($1.capacity ?? 0) },
            alignment: 1)
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
            case .changeable(let prefix, let capacity), .own(let prefix, let capacity):
                value = place(prefix, at: &next)
                next += capacity
                absent += 1
                rooms.initializeElement(
                    at: index, to: Room(prefix: prefix.utf8.count, capacity: capacity))
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
