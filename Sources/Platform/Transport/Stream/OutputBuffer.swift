import EventLoop
import POSIX

/// Bytes that are queued for a socket. Bytes are appended at the end and written from the front.
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

    /// Lets `fill` write into at least `capacity` free bytes. `fill` returns the number of bytes written.
    package mutating func append(
        upTo capacity: Int, _ fill: (UnsafeMutableRawBufferPointer) throws -> Int
    ) rethrows {
        reserve(capacity)
        tail += try fill(UnsafeMutableRawBufferPointer(rebasing: storage[tail...]))
    }

    /// The bytes to write next. The bytes are valid until the buffer changes.
    package var front: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(storage)[head..<tail])
    }

    package mutating func consume(_ count: Int) {
        head += count
        if head == tail { (head, tail) = (0, 0) }
    }

    /// Frees the buffer's extra memory after a burst of output, if the buffer is empty.
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

/// The buffer that all streams of the loop share for reading.
enum ReadBuffer {
    @Loop static let shared = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 64)
}

/// Estimates how far a TCP peer is behind, as two numbers: bytes that the peer's machine has not acknowledged, and bytes that
/// the peer's program has not read.
///
/// The number of unacknowledged bytes is exact. The number of unread bytes is an estimate from the peer's receive window, which
/// shrinks while the peer's program does not read. The peer reports its window only in acknowledgements, so while ``isWatched``
/// is true, a probe requests an acknowledgement each second. The window of a new connection grows by itself, so the estimate may
/// be ten thousand bytes or more too low.
struct PeerLag {
    /// The largest receive window that the peer has offered.
    private var widest = 0
    private(set) var isWatched = false

    /// The number of bytes that the peer's program has probably not read: unacknowledged bytes and acknowledged bytes together.
    mutating func bytes(_ descriptor: Int32) -> Int {
        let room = Self.offeredRoom(descriptor)
        widest = max(widest, room)
        return Socket.unacknowledged(descriptor) + widest - room
    }

    /// Whether to probe the peer's window every second. If false, only a rare keep-alive probe checks that the peer exists.
    mutating func watch(_ isWatched: Bool, _ descriptor: Int32) {
        guard isWatched != self.isWatched else { return }
        self.isWatched = isWatched
        #if canImport(Glibc)
            for option in [TCP_KEEPIDLE, TCP_KEEPINTVL] {
                var seconds: Int32 = isWatched ? 1 : 60
                setsockopt(
                    descriptor, Int32(IPPROTO_TCP), option, &seconds, socklen_t(MemoryLayout<Int32>.size))
            }
        #endif
    }

    /// The peer's receive window from its last acknowledgement; 0 if the system does not report it.
    private static func offeredRoom(_ descriptor: Int32) -> Int {
        #if canImport(Glibc)
            // In Linux 5.4 and later, struct tcp_info has the field `tcpi_snd_wnd`, which glibc's declaration of the struct
            // lacks.
            let offset = 228
            return withUnsafeTemporaryAllocation(byteCount: 256, alignment: 8) { info in
                var length = socklen_t(info.count)
                guard getsockopt(descriptor, Int32(IPPROTO_TCP), TCP_INFO, info.baseAddress, &length) == 0,
                    Int(length) >= offset + 4
                else { return 0 }
                return Int(info.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
            }
        #else
            return 0
        #endif
    }
}
