/// Finds frames on streams that the client has closed or has skipped. (A client that opens stream 7 after stream 3 skips stream
/// 5.)
///
/// libnghttp2 forgets a closed stream and then ignores frames on this stream. RFC 9113 requires a connection error instead, which
/// shows the developer of a client the mistake. This check reads the frame headers of all frames that a client sends.
/// - Source: RFC 9113, sections 5.1 ("closed") and 5.1.1.
struct StreamUseCheck {
    /// A frame that ends the connection.
    struct Violation: Equatable {
        /// The offset of the frame in the bytes given to ``firstViolation(in:)``; 0 if the frame began in earlier bytes.
        let offset: Int
        let code: UInt32
        let text: String
    }

    private static let prefaceLength = 24
    private static let headLength = 9
    /// The maximum number of entries in ``unfinished``, and of entries in ``neverOpened``. When a list is full, the older half is
    /// dropped, and the streams of the dropped entries count as closed.
    private static let memory = 4_096

    /// The number of bytes to skip before the next frame header: first the connection preface, later the payload of the present
    /// frame.
    private var skipped = prefaceLength
    /// The received part of the present frame header.
    private var head: (UInt64, UInt8) = (0, 0)
    private var headCount = 0
    private var newest: Int32 = 0
    /// Streams whose request has not arrived completely, in the order of opening.
    private var unfinished: [Int32] = []
    /// Ranges of streams that the client skipped by opening a higher stream, oldest first.
    private var neverOpened: [ClosedRange<Int32>] = []

    /// Checks the next bytes of the connection and returns the first violation.
    mutating func firstViolation(in bytes: UnsafeRawBufferPointer) -> Violation? {
        var at = 0
        while at < bytes.count {
            if skipped > 0 {
                let step = min(skipped, bytes.count - at)
                skipped -= step
                at += step
                continue
            }
            let start = at - headCount
            while headCount < Self.headLength, at < bytes.count {
                take(bytes[at])
                at += 1
            }
            guard headCount == Self.headLength else { return nil }
            headCount = 0
            skipped = Int(head.0 >> 40)
            let (type, flags) = (
                UInt8(truncatingIfNeeded: head.0 >> 32), UInt8(truncatingIfNeeded: head.0 >> 24)
            )
            let id = Int32(truncatingIfNeeded: (head.0 & 0xFF_FFFF) << 8 | UInt64(head.1)) & .max
            if let (code, text) = fault(type: type, flags: flags, stream: id) {
                return Violation(offset: max(0, start), code: code, text: text)
            }
        }
        return nil
    }

    /// Adds a byte of the frame header. The first eight bytes of a frame header form one number. The ninth byte is stored
    /// separately.
    private mutating func take(_ byte: UInt8) {
        if headCount < 8 { head.0 = head.0 << 8 | UInt64(byte) } else { head.1 = byte }
        headCount += 1
    }

    private mutating func fault(type: UInt8, flags: UInt8, stream id: Int32) -> (UInt32, String)? {
        // libnghttp2 itself checks frames on stream 0 and on streams with even numbers. PRIORITY frames are allowed on any
        // stream.
        guard id & 1 == 1, type <= Frame.continuation, type != Frame.priority else { return nil }
        let endsRequest = flags & Frame.endStream != 0
        if id > newest {
            if type == Frame.headers { open(id, isWhole: endsRequest) }
            return nil
        }
        if neverOpened.contains(where: { $0.contains(id) }) {
            return (ErrorCode.protocolError, "a stream below the newest one cannot be opened")
        }
        switch type {
        case Frame.headers, Frame.data:
            guard let index = unfinished.lastIndex(of: id) else {
                return (ErrorCode.streamClosed, "the stream is closed")
            }
            if endsRequest { unfinished.remove(at: index) }
        case Frame.resetStream:
            if let index = unfinished.lastIndex(of: id) { unfinished.remove(at: index) }
        default: break
        }
        return nil
    }

    private mutating func open(_ id: Int32, isWhole: Bool) {
        if id > newest + 2 {
            remember(newest == 0 ? 1...(id - 2) : (newest + 2)...(id - 2), in: &neverOpened)
        }
        newest = id
        if !isWhole { remember(id, in: &unfinished) }
    }

    private func remember<Element>(_ element: Element, in list: inout [Element]) {
        if list.count == Self.memory { list.removeFirst(Self.memory / 2) }
        list.append(element)
    }
}
