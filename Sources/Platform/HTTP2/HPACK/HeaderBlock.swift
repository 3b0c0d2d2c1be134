/// A template for the header lists of many requests or responses. Only a few values change from message to message.
///
/// The object contains the encoded fields that belong to a single message. Fields that many messages share are encoded once
/// (``SharedFields``). A session copies the values when the caller submits a message, so the caller may change the values after
/// the submission.
package final class HeaderBlock {
    private struct ValueSlot {
        /// The offset of the value in the storage.
        var value = 0
        var prefix = 0
        var capacity = 0
        var isFixed = false
        var isOwn = false
        var isPseudo = false
        var isPresent = false
        /// The length in bytes of the value with the value's prefix.
        var count = 0
        /// The offset of the encoded field, if the field belongs to one message only.
        var start = 0
    }

    private let storage: UnsafeMutableRawBufferPointer
    private let slots: UnsafeMutableBufferPointer<ValueSlot>
    private let fields: [HeaderField]
    /// For each field, the encoded bytes before the length of the value. Only fields that belong to one message use these bytes.
    private let heads: [[UInt8]]
    private var known: SharedFields?
    /// An upper bound for the number of bytes that encode a value's length.
    private static let longestLength = 5

    package init(_ list: [HeaderField]) {
        fields = list
        heads = list.map { field in
            var head: [UInt8] = []
            HeaderTable.writeUnindexed(name: Array(field.name.utf8), to: &head)
            return head
        }
        slots = .allocate(capacity: list.count)
        var size = 0
        for (index, field) in list.enumerated() {
            let prefix = field.prefix.utf8.count
            var isOwn = false
            if case .own = field.value { isOwn = true }
            size += heads[index].count + Self.longestLength
            slots.initializeElement(
                at: index,
                to: ValueSlot(
                    value: size, prefix: prefix, capacity: field.capacity ?? 0,
                    isFixed: field.capacity == nil,
                    isOwn: isOwn, isPseudo: field.isPseudo, isPresent: field.capacity == nil, count: prefix,
                    start: size))
            size += prefix + (field.capacity ?? 0)
        }
        storage = .allocate(byteCount: size, alignment: 1)
        for (index, field) in list.enumerated() {
            storage[slots[index].value..<slots[index].value + slots[index].prefix]
                .copyBytes(from: field.prefix.utf8)
        }
    }

    deinit {
        slots.deallocate()
        storage.deallocate()
    }

    /// Sets the changeable part of a field. `index` is the field's position in the call of `init`.
    /// - Precondition: `bytes` fits the field's capacity.
    package func set(_ index: Int, _ bytes: UnsafeRawBufferPointer) {
        let room = slots[index]
        // The value is often the same in the next job of an app. If the value has not changed, the encoded shared fields stay
        // valid.
        if !room.isOwn, room.isPresent, isValue(bytes, of: room) { return }
        write(index) { target in
            precondition(bytes.count <= target.count, "header value longer than its field")
            target.copyMemory(from: bytes)
            return bytes.count
        }
    }

    package func set(_ index: Int, _ text: String) {
        var text = text
        text.withUTF8 { set(index, UnsafeRawBufferPointer($0)) }
    }

    /// Lets `fill` write the changeable part of a field directly into the memory of this object. `fill` returns the number of
    /// bytes written.
    package func write(_ index: Int, _ fill: (UnsafeMutableRawBufferPointer) -> Int) {
        let room = slots[index]
        precondition(!room.isFixed, "a fixed value is swapped")
        let start = storage.baseAddress! + room.value + room.prefix
        let count = fill(UnsafeMutableRawBufferPointer(start: start, count: room.capacity))
        precondition(count >= 0 && count <= room.capacity, "header value longer than its field")
        let isSame = room.isPresent && room.count == room.prefix + count
        slots[index].count = room.prefix + count
        slots[index].isPresent = true
        if !room.isOwn {
            known = nil
        } else if !isSame {
            writeHead(of: index)
        }
    }

    /// Leaves a changeable field out of the header list until it is set again.
    package func omit(_ index: Int) {
        precondition(!slots[index].isFixed, "a fixed field is always sent")
        guard slots[index].isPresent else { return }
        slots[index].isPresent = false
        if !slots[index].isOwn { known = nil }
    }

    /// The present fields that messages share.
    var shared: SharedFields {
        if let known { return known }
        let present = fields.indices.filter { !slots[$0].isOwn && slots[$0].isPresent }
        let made = SharedFields(
            present.map { index in
                let room = slots[index]
                return SharedFields.Field(
                    pair: HeaderTable.Pair(
                        name: Array(fields[index].name.utf8),
                        value: Array(storage[room.value..<room.value + room.count])),
                    isIndexed: fields[index].indexed)
            })
        known = made
        return made
    }

    /// Calls `body` with each encoded field that belongs to this message only. `pseudo` selects the pseudo-header fields or the
    /// other fields.
    func forEachOwn(pseudo: Bool, _ body: (UnsafeRawBufferPointer) -> Void) {
        for room in slots where room.isOwn && room.isPresent && room.isPseudo == pseudo {
            body(UnsafeRawBufferPointer(rebasing: storage[room.start..<room.value + room.count]))
        }
    }

    private func isValue(_ bytes: UnsafeRawBufferPointer, of room: ValueSlot) -> Bool {
        guard room.count - room.prefix == bytes.count else { return false }
        return storage[room.value + room.prefix..<room.value + room.count].elementsEqual(bytes)
    }

    /// Writes name and length in front of the value of a field that belongs to this message only.
    private func writeHead(of index: Int) {
        var head = heads[index]
        HeaderTable.write(slots[index].count, prefix: 7, flags: 0, to: &head)
        let start = slots[index].value - head.count
        storage[start..<slots[index].value].copyBytes(from: head)
        slots[index].start = start
    }
}

/// Fields that several messages in a row share. The encoding of a field depends on the compression table of the connection, so
/// the fields are encoded when the first of these messages is sent. They are encoded again only after the table has changed.
final class SharedFields {
    struct Field {
        let pair: HeaderTable.Pair
        let isIndexed: Bool
    }

    private let pseudo: [Field]
    private let regular: [Field]
    private var front: [UInt8] = []
    private var back: [UInt8] = []
    /// The generation of the table for which the fields were encoded.
    private var generation: HeaderTable.Generation?

    init(_ fields: [Field]) {
        pseudo = fields.filter { $0.pair.name.first == UInt8(ascii: ":") }
        regular = fields.filter { $0.pair.name.first != UInt8(ascii: ":") }
    }

    /// Returns the encoded pseudo-header fields and other fields for the next header block.
    func encoded(for table: inout HeaderTable) -> (front: [UInt8], back: [UInt8]) {
        if generation === table.generation { return (front, back) }
        front.removeAll(keepingCapacity: true)
        back.removeAll(keepingCapacity: true)
        let before = table.generation
        table.writeLimit(to: &front)
        for field in pseudo { write(field, to: &front, for: &table) }
        for field in regular { write(field, to: &back, for: &table) }
        // If this encoding has added fields to the table, the fields have a shorter encoding from now on. So the next message
        // encodes the fields again.
        generation = table.generation === before ? before : nil
        return (front, back)
    }

    private func write(_ field: Field, to block: inout [UInt8], for table: inout HeaderTable) {
        if field.isIndexed {
            table.write(field.pair, to: &block)
        } else {
            HeaderTable.writeUnindexed(field.pair, to: &block)
        }
    }
}
