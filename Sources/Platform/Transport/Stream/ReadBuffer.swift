import EventLoop

/// Where every stream of the loop reads to, one after the other.
enum ReadBuffer {
    @Loop static let shared = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 64)
}
