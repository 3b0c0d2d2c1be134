import EventLoop
import POSIX

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

/// The buffer that all streams of the loop read into, one after the other.
enum ReadBuffer {
    @Loop static let shared = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 64)
}

/// How far a TCP peer is behind: bytes that its machine has not acknowledged, and bytes that its program has not read.
///
/// The first number is known. The second is an estimate from the receive window, which shrinks while a program does not
/// read. Only acknowledgements show the window, so probes request one each second while ``isWatched``. The window of a new
/// connection grows by itself, so the estimate may miss some ten thousand bytes.
struct PeerLag {
    /// The largest receive window that the peer has offered.
    private var widest = 0
    private(set) var isWatched = false

    /// Bytes that the peer's program has probably not read.
    mutating func bytes(_ descriptor: Int32) -> Int {
        let room = Self.offeredRoom(descriptor)
        widest = max(widest, room)
        return Socket.unacknowledged(descriptor) + widest - room
    }

    /// Probes the peer's window every second; otherwise a rare keep-alive probe checks that the peer exists.
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

    /// The peer's receive window as last acknowledged; 0 if the system does not tell.
    private static func offeredRoom(_ descriptor: Int32) -> Int {
        #if canImport(Glibc)
            // struct tcp_info of Linux 5.4 and later has it in `tcpi_snd_wnd`, which glibc's own copy lacks.
            let place = 228
            return withUnsafeTemporaryAllocation(byteCount: 256, alignment: 8) { info in
                var length = socklen_t(info.count)
                guard getsockopt(descriptor, Int32(IPPROTO_TCP), TCP_INFO, info.baseAddress, &length) == 0,
                    Int(length) >= place + 4
                else { return 0 }
                return Int(info.loadUnaligned(fromByteOffset: place, as: UInt32.self))
            }
        #else
            return 0
        #endif
    }
}
