import HTTP2

/// A server that sends and reads handmade frames, which a correct session would never send.
struct RawServer {
    struct Frame: Equatable {
        var type: UInt8
        var flags: UInt8
        var stream: Int32
        var payload: [UInt8]
    }

    static func frame(type: UInt8, flags: UInt8, stream: Int32, _ payload: [UInt8]) -> [UInt8] {
        let count = payload.count
        let id = UInt32(bitPattern: stream)
        return [UInt8(count >> 16 & 0xff), UInt8(count >> 8 & 0xff), UInt8(count & 0xff), type, flags]
            + [24, 16, 8, 0].map { UInt8(id >> $0 & 0xff) } + payload
    }

    func send(
        _ client: ClientSession, type: UInt8, flags: UInt8 = 0, stream: Int32 = 0, _ payload: [UInt8]
    ) throws(HTTP2Error) {
        try give(client, Self.frame(type: type, flags: flags, stream: stream, payload))
    }

    func give(_ client: ClientSession, _ bytes: [UInt8]) throws(HTTP2Error) {
        var failure: HTTP2Error?
        bytes.withUnsafeBytes { bytes in
            do throws(HTTP2Error) { try client.receive(bytes) } catch { failure = error }
        }
        if let failure { throw failure }
    }

    /// Sends the first SETTINGS and reads the first frames of the client.
    func greet(_ client: ClientSession, _ settings: [(UInt16, UInt32)] = [(3, 100)]) throws(HTTP2Error) {
        let payload = settings.flatMap { id, value in
            [UInt8(id >> 8), UInt8(id & 0xff)] + [24, 16, 8, 0].map { UInt8(value >> $0 & 0xff) }
        }
        try send(client, type: 4, payload)
        try send(client, type: 4, flags: 1, [])
        _ = try readBytes(client)
        while client.nextEvent() != nil {}
    }

    func readBytes(_ client: ClientSession) throws(HTTP2Error) -> [UInt8] {
        let room = UnsafeMutableRawBufferPointer.allocate(byteCount: 100_000, alignment: 1)
        defer { room.deallocate() }
        var bytes: [UInt8] = []
        while true {
            let count = try client.fill(room)
            if count == 0 { return bytes }
            bytes += room[..<count]
        }
    }

    func read(_ client: ClientSession) throws(HTTP2Error) -> [Frame] {
        var bytes = try readBytes(client)
        if bytes.starts(with: "PRI * ".utf8) { bytes.removeFirst(24) }
        return Self.frames(in: bytes)
    }

    static func frames(in bytes: [UInt8]) -> [Frame] {
        var frames: [Frame] = []
        var at = 0
        while at + 9 <= bytes.count {
            let count = Int(bytes[at]) << 16 | Int(bytes[at + 1]) << 8 | Int(bytes[at + 2])
            let id = bytes[at + 5..<at + 9].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
            frames.append(
                Frame(
                    type: bytes[at + 3], flags: bytes[at + 4], stream: Int32(bitPattern: id),
                    payload: Array(bytes[at + 9..<at + 9 + count])))
            at += 9 + count
        }
        return frames
    }
}
