import POSIX

/// The header lists of submitted requests or responses that are not sent yet, in sending order.
///
/// libnghttp2 gets an empty header list for each stream. When the HEADERS frame of a stream is due, this queue makes the frame
/// with the real header list. The reason is speed: libnghttp2's encoder would Huffman-code the bearer token for each push, and
/// this would be a quarter of all instructions for a push.
struct HeaderQueue: ~Copyable {
    private struct Entry: BitwiseCopyable {
        let stream: Int32
        /// The offset in ``bytes`` of the encoded fields that belong to this message only. The pseudo-header fields come first.
        let start: Int
        /// The length in bytes of the pseudo-header fields.
        var pseudo = 0
        /// The length in bytes of the other fields.
        var regular = 0
        /// The index in ``sets``.
        let shared: Int
    }

    private static let frameHead = 9
    /// The frame size that every peer accepts.
    private static let frameLimit = 16_384

    private var table = HeaderTable()
    private var entries: [Entry] = []
    private var next = 0
    private var sets: [SharedFields] = []
    private var bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: 4096, alignment: 16)
    private var filled = 0
    /// The memory of the latest frame.
    private var frame = UnsafeMutableRawBufferPointer.allocate(byteCount: 1024, alignment: 16)

    deinit {
        bytes.deallocate()
        frame.deallocate()
    }

    /// Sets the size of the peer's compression table in bytes.
    mutating func limitTable(to size: Int) { table.lower(to: size) }

    mutating func append(_ headers: borrowing HeaderBlock, stream: Int32) {
        let shared = headers.shared
        if sets.last !== shared { sets.append(shared) }
        var entry = Entry(stream: stream, start: filled, shared: sets.count - 1)
        headers.forEachOwn(pseudo: true) { keep($0) }
        entry.pseudo = filled - entry.start
        headers.forEachOwn(pseudo: false) { keep($0) }
        entry.regular = filled - entry.start - entry.pseudo
        entries.append(entry)
    }

    /// Makes a message's HEADERS frame, and CONTINUATION frames if the header block is very long.
    /// The bytes are valid until the next call.
    ///
    /// - Parameter empty: the frame that libnghttp2 made for an empty header list. The flags and the stream are taken from this
    ///   frame.
    mutating func frame(insteadOf empty: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        let stream = Int32(bigEndian: empty.loadUnaligned(fromByteOffset: 5, as: Int32.self))
        // Skips messages whose streams were reset.
        while next < entries.count, entries[next].stream != stream { next += 1 }
        precondition(next < entries.count, "a HEADERS frame of stream \(stream), which was not submitted")
        let entry = entries[next]
        next += 1
        let (front, back) = sets[entry.shared].encoded(for: &table)
        let count = front.count + entry.pseudo + back.count + entry.regular
        if frame.count < Self.frameHead + count {
            frame.deallocate()
            frame = .allocate(byteCount: 2 * (Self.frameHead + count), alignment: 16)
        }
        var end = frame.baseAddress!
        Self.put(UnsafeRawBufferPointer(rebasing: empty[..<Self.frameHead]), at: &end)
        let own = UnsafeRawPointer(bytes.baseAddress! + entry.start)
        front.withUnsafeBytes { Self.put($0, at: &end) }
        Self.put(UnsafeRawBufferPointer(start: own, count: entry.pseudo), at: &end)
        back.withUnsafeBytes { Self.put($0, at: &end) }
        Self.put(UnsafeRawBufferPointer(start: own + entry.pseudo, count: entry.regular), at: &end)
        if next == entries.count { clear() }
        if count > Self.frameLimit { return cut(count) }
        setLength(count, at: 0)
        return UnsafeRawBufferPointer(rebasing: frame[..<(Self.frameHead + count)])
    }

    private mutating func clear() {
        entries.removeAll(keepingCapacity: true)
        (next, filled) = (0, 0)
        if sets.count > 1 { sets.removeFirst(sets.count - 1) }
    }

    private mutating func keep(_ field: UnsafeRawBufferPointer) {
        if filled + field.count > bytes.count {
            let larger = UnsafeMutableRawBufferPointer.allocate(
                byteCount: 2 * (filled + field.count), alignment: 16)
            larger.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[..<filled]))
            bytes.deallocate()
            bytes = larger
        }
        (bytes.baseAddress! + filled).copyMemory(from: field.baseAddress!, byteCount: field.count)
        filled += field.count
    }

    private static func put(_ piece: UnsafeRawBufferPointer, at end: inout UnsafeMutableRawPointer) {
        guard let from = piece.baseAddress else { return }
        end.copyMemory(from: from, byteCount: piece.count)
        end += piece.count
    }

    /// Splits the frame into a HEADERS frame and CONTINUATION frames of a size that every peer accepts.
    private mutating func cut(_ count: Int) -> UnsafeRawBufferPointer {
        let pieces = (count + Self.frameLimit - 1) / Self.frameLimit
        let whole = UnsafeMutableRawBufferPointer.allocate(
            byteCount: count + pieces * Self.frameHead, alignment: 16)
        var end = whole.baseAddress!
        for piece in 0..<pieces {
            let start = Self.frameHead + piece * Self.frameLimit
            let length = min(Self.frameLimit, Self.frameHead + count - start)
            let head = end
            Self.put(UnsafeRawBufferPointer(rebasing: frame[..<Self.frameHead]), at: &end)
            for byte in 0..<3 {
                head.storeBytes(
                    of: UInt8(truncatingIfNeeded: length >> (16 - 8 * byte)), toByteOffset: byte,
                    as: UInt8.self)
            }
            let isLast = piece == pieces - 1
            let flags = piece == 0 ? frame[4] & ~Frame.endHeaders : 0
            if piece > 0 { head.storeBytes(of: Frame.continuation, toByteOffset: 3, as: UInt8.self) }
            head.storeBytes(of: flags | (isLast ? Frame.endHeaders : 0), toByteOffset: 4, as: UInt8.self)
            Self.put(UnsafeRawBufferPointer(rebasing: frame[start..<start + length]), at: &end)
        }
        frame.deallocate()
        frame = whole
        return UnsafeRawBufferPointer(whole)
    }

    private func setLength(_ count: Int, at start: Int) {
        for byte in 0..<3 { frame[start + byte] = UInt8(truncatingIfNeeded: count >> (16 - 8 * byte)) }
    }
}
