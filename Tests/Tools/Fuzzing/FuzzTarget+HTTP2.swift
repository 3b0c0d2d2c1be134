import HTTP2
import PushModel
import RandomTesting

extension FuzzTarget {
    /// The bytes of an HTTP/2 server while a client submits pushes.
    static let http2 = FuzzTarget(
        "http2",
        words: [
            "\u{0}\u{0}\u{0}\u{4}\u{1}\u{0}\u{0}\u{0}\u{0}",
            "\u{0}\u{0}\u{6}\u{4}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{3}\u{0}\u{0}\u{0}\u{9}",
            "\u{0}\u{0}\u{4}\u{3}\u{0}\u{0}\u{0}\u{0}\u{1}\u{0}\u{0}\u{0}\u{8}",
            "\u{0}\u{0}\u{8}\u{7}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{1}\u{0}\u{0}\u{0}\u{0}",
            "\u{0}\u{0}\u{4}\u{8}\u{0}\u{0}\u{0}\u{0}\u{0}", "{\"reason\":\"BadDeviceToken\"}",
        ]
    ) { bytes throws(Violation) in
        var random = SplitMix(seed: XXH64.hash(bytes, seed: 0))
        var run = ClientRun()
        run.client.keepsIdentifiers = random.chance(2)
        run.exchange(bytes) { Int(random.next() % UInt64(min($0, 60))) + 1 }
        run.client.abandon()
        run.drain()
        try Violation.unless(run.client.openStreams == 0, "a stream is still open after the end")
        try Violation.unless(run.ended.count == run.opened, "a push never ended")
        try Violation.unless(run.ended.values.allSatisfy { $0 == 1 }, "a push ended twice")
        try Violation.unless(
            run.bodyBytes <= 1024 * max(run.opened, 1), "more of the bodies kept than allowed")
    }
}

/// A client that submits pushes as long as it can and counts their results.
private struct ClientRun {
    let client = ClientSession()
    private(set) var opened = 0
    private(set) var ended: [UInt32: Int] = [:]
    private(set) var bodyBytes = 0
    private let headers = HeaderBlock([
        .fixed(":method", "POST"), .fixed(":scheme", "https"), .fixed(":authority", "localhost"),
        .fixed(":path", "/3/device/00ff"), .fixed("authorization", "bearer abc", indexed: false),
    ])

    mutating func exchange(_ bytes: [UInt8], piece size: (Int) -> Int) {
        let room = UnsafeMutableRawBufferPointer.allocate(byteCount: 16_384, alignment: 1)
        defer { room.deallocate() }
        var rest = bytes[...]
        do throws(HTTP2Error) {
            while !rest.isEmpty {
                let piece = Array(rest.prefix(size(rest.count)))
                rest = rest.dropFirst(piece.count)
                try give(piece)
                submit()
                while try client.fill(room) > 0 {}
                drain()
            }
        } catch {}
    }

    mutating func drain() {
        while let event = client.nextEvent() {
            switch event {
            case .responded(let response):
                ended[response.tag, default: 0] += 1
                bodyBytes += response.body.count
            case .closed(let tag, _, _, _): ended[tag, default: 0] += 1
            default: break
            }
        }
    }

    private mutating func submit() {
        for _ in 0..<3 {
            let result = Array("{}".utf8).withUnsafeBytes {
                client.submit(headers, body: $0, tag: UInt32(opened))
            }
            guard case .opened = result else { return }
            opened += 1
        }
    }

    private func give(_ bytes: [UInt8]) throws(HTTP2Error) {
        var failure: HTTP2Error?
        bytes.withUnsafeBytes { raw in
            do throws(HTTP2Error) { try client.receive(raw) } catch { failure = error }
        }
        if let failure { throw failure }
    }
}
