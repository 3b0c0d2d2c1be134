/// The bytes in flight on an HTTP/2 connection. The cutter divides some header blocks into HEADERS and CONTINUATION frames.
struct FrameCutter {
    private var whole: [UInt8] = []
    /// The bytes of an incomplete frame.
    private var rest: [UInt8] = []
    private var preface: Int
    /// Streams whose HEADERS frame was passed to the cutter completely.
    private var streams: Set<UInt32> = []

    private static let headers: UInt8 = 1
    private static let continuation: UInt8 = 9
    private static let endHeaders: UInt8 = 4
    private static let padding: UInt8 = 8 | 32

    /// - Parameter preface: the number of bytes before the first frame.
    init(preface: Int) { self.preface = preface }

    /// Whether HEADERS of the stream, or the start of HEADERS, may have been passed to the cutter.
    func hasSeenHeaders(of stream: UInt32) -> Bool {
        // `rest` is the start of a frame. With less than 9 bytes, the frame may be HEADERS of any stream.
        streams.contains(stream) || rest.count >= 9 && rest[3] == Self.headers && Self.stream(rest) == stream
            || rest.count < 9 && !rest.isEmpty
    }

    private static func stream(_ head: [UInt8]) -> UInt32 {
        head[5..<9].reduce(0) { $0 << 8 | UInt32($1) }
    }

    mutating func append(_ bytes: UnsafeRawBufferPointer, chance: (ClosedRange<Int>) -> Int) {
        rest.append(contentsOf: bytes)
        if preface > 0 {
            let count = min(preface, rest.count)
            whole += rest[..<count]
            rest.removeFirst(count)
            preface -= count
        }
        var start = 0
        while rest.count - start >= 9 {
            let length = Int(rest[start]) << 16 | Int(rest[start + 1]) << 8 | Int(rest[start + 2])
            guard rest.count - start >= 9 + length else { break }
            cut(Array(rest[start..<start + 9]), rest[(start + 9)..<(start + 9 + length)], chance)
            start += 9 + length
        }
        rest.removeFirst(start)
    }

    private mutating func cut(
        _ head: [UInt8], _ payload: ArraySlice<UInt8>, _ chance: (ClosedRange<Int>) -> Int
    ) {
        if head[3] == Self.headers { streams.insert(Self.stream(head)) }
        guard head[3] == Self.headers, head[4] & Self.endHeaders != 0, head[4] & Self.padding == 0,
            payload.count > 1, chance(0...1) == 0
        else {
            whole += head + payload
            return
        }
        var head = head
        var payload = payload
        var isFirst = true
        for _ in 0..<chance(1...3) where payload.count > 1 {
            let count = chance(1...payload.count - 1)
            write(head, flags: isFirst ? head[4] & ~Self.endHeaders : 0, payload.prefix(count))
            payload = payload.dropFirst(count)
            isFirst = false
            head[3] = Self.continuation
        }
        write(head, flags: Self.endHeaders, payload)
    }

    private mutating func write(_ head: [UInt8], flags: UInt8, _ payload: ArraySlice<UInt8>) {
        let count = payload.count
        whole += [UInt8(count >> 16), UInt8(count >> 8 & 255), UInt8(count & 255), head[3], flags]
        whole += head[5...]
        whole += payload
    }

    /// Returns the next bytes to arrive, at most `most`.
    mutating func take(_ most: Int) -> [UInt8] {
        let bytes = Array(whole.prefix(most))
        whole.removeFirst(bytes.count)
        return bytes
    }
}
