import EventLoop

/// The buffer that all streams of the loop read into, one after the other.
enum ReadBuffer {
    @Loop static let shared = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 64)
}
