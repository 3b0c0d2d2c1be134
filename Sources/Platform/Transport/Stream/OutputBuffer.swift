/// Bytes that wait for a socket: appended at the end, written from the front.
package struct OutputBuffer: ~Copyable {
    private var storage = UnsafeMutableRawBufferPointer(start: nil, count: 0)
    private var head = 0
    private var tail = 0

    package init() {}

    deinit { storage.deallocate() }

    package var count: Int { tail - head }
    package var isEmpty: Bool { head == tail }

    package mutating func append(_ bytes: UnsafeRawBufferPointer) {
        guard !bytes.isEmpty else { return }
        reserve(bytes.count)
        (storage.baseAddress! + tail).copyMemory(from: bytes.baseAddress!, byteCount: bytes.count)
        tail += bytes.count
    }

    /// Lets `fill` write into free space of at least `capacity` bytes; it returns how many it wrote.
    package mutating func append(
        upTo capacity: Int, _ fill: (UnsafeMutableRawBufferPointer) throws -> Int
    ) rethrows {
        reserve(capacity)
        tail += try fill(UnsafeMutableRawBufferPointer(rebasing: storage[tail...]))
    }

    /// The bytes to write next, valid until the buffer changes.
    package var front: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(storage)[head..<tail])
    }

    package mutating func consume(_ count: Int) {
        head += count
        if head == tail { (head, tail) = (0, 0) }
    }

    /// Frees the memory of a past burst while the buffer is empty.
    mutating func trim() {
        guard isEmpty, storage.count > 128 << 10 else { return }
        storage.deallocate()
        storage = UnsafeMutableRawBufferPointer(start: nil, count: 0)
    }

    private mutating func reserve(_ capacity: Int) {
        guard storage.count - tail < capacity else { return }
        let waiting = count
        if head > 0 && storage.count - waiting >= capacity && waiting <= storage.count / 2 {
            storage.baseAddress!.copyMemory(from: storage.baseAddress! + head, byteCount: waiting)
        } else {
            let larger = UnsafeMutableRawBufferPointer.allocate(
                byteCount: max(4096, storage.count * 2, waiting + capacity), alignment: 16)
            if waiting > 0 {
                larger.baseAddress!.copyMemory(from: storage.baseAddress! + head, byteCount: waiting)
            }
            storage.deallocate()
            storage = larger
        }
        (head, tail) = (0, waiting)
    }
}
