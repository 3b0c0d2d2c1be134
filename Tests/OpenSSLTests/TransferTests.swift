import OpenSSL
import Simulator
import Testing

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

@Suite struct TransferTests {
    private func link(
        _ version: TLSVersion = .tls13, tickets: Int = 0, sockets: (Int32, Int32) = socketPair()
    ) throws -> Link {
        let authority = try ThrowAwayAuthority()
        var client = ClientSettings(trust: .authorities(authority.certificatePEM))
        client.maximumVersion = version
        var server = ServerSettings(identity: try authority.server(names: ["localhost"]))
        server.tickets = tickets
        return try Link(
            client: TLSContext(client: client), server: TLSContext(server: server), sockets: sockets)
    }

    /// Bytes without a repeating pattern. All tests share them, because a debug build needs a second to make them.
    private static let megabytes = (0..<8 << 20).map { UInt8(truncatingIfNeeded: $0 &* 2_654_435_761 >> 13) }

    @Test(arguments: TLSVersion.allCases, [1, 1000, 1 << 14, 100_000])
    func `eight megabytes arrive completely from a buffer that moves and grows`(
        version: TLSVersion, room: Int
    )
        throws
    {
        let link = try link(version)
        #expect(link.handshake().isDone)
        // A buffer of one byte needs a call for each byte, so this case sends fewer bytes.
        let size = room == 1 ? 50_000 : Self.megabytes.count
        let sent = Array(Self.megabytes.prefix(size))
        var received: [UInt8] = []
        received.reserveCapacity(size)
        var offset = 0
        var offered = 0
        var waits = 0
        var buffer = [UInt8](repeating: 0, count: room)
        while received.count < size {
            // Each call offers a new copy of the unsent bytes: the copy is a little longer and at another address.
            // After a blocked write, OpenSSL accepts such a copy.
            offered = min(size - offset, max(offered, 200_000) + 777)
            if offered > 0 {
                let copy = Array(sent[offset..<offset + offered])
                switch try copy.withUnsafeBytes({ try link.client.write($0) }) {
                case .bytes(let count):
                    #expect(count > 0 && count <= TLSSession.longestWrite)
                    offset += count
                    offered -= count
                case .wantWrite: waits += 1
                case let other: Issue.record("\(other)")
                }
            }
            reading: while true {
                switch try buffer.withUnsafeMutableBytes({ try link.server.read(into: $0) }) {
                case .bytes(let count): received += buffer.prefix(count)
                case .wantRead: break reading
                case let other:
                    Issue.record("\(other)")
                    break reading
                }
                if room > 1 && received.count % 3 == 0 { break }
            }
        }
        #expect(received == sent)
        #expect(offset == size)
    }

    @Test func `a full socket reports it and accepts the rest later`() throws {
        let link = try link()
        #expect(link.handshake().isDone)
        let bytes = [UInt8](repeating: 7, count: TLSSession.longestWrite)
        var accepted = 0
        var last = TLSTransfer.bytes(0)
        for _ in 0..<1000 {
            last = try bytes.withUnsafeBytes { try link.client.write($0) }
            guard case .bytes(let count) = last else { break }
            accepted += count
        }
        #expect(last == .wantWrite)
        #expect(accepted > 0)
        var received = 0
        var room = [UInt8](repeating: 0, count: 1 << 16)
        while case .bytes(let count) = try room.withUnsafeMutableBytes({ try link.server.read(into: $0) }) {
            received += count
        }
        // OpenSSL has already sent a part of the record that did not fit. The caller must still offer all bytes of this
        // record again.
        #expect(received <= accepted)
        #expect(try bytes.withUnsafeBytes { try link.client.write($0) } != .wantWrite)
    }

    @Test func `bytes left in OpenSSL count as pending`() throws {
        let link = try link()
        #expect(link.handshake().isDone)
        _ = try link.client.send("one")
        _ = try link.client.send("two")
        #expect(link.server.hasPending == false)
        #expect(try link.server.receive() == .text("one"))
        #expect(link.server.hasPending == true)
        #expect(try link.server.receive() == .text("two"))
        #expect(try link.server.receive() == .nothing(.wantRead))
        #expect(link.server.hasPending == false)
    }

    @Test func `session tickets before the first bytes do not hide them`() throws {
        let link = try link(tickets: 2)
        #expect(link.handshake().isDone)
        _ = try link.server.send("hello")
        // The first reads only process session tickets. The text must come within four reads, and no earlier read may report
        // that the socket is empty.
        var seen: [Received] = []
        while seen.count < 4 && seen.last != .text("hello") { seen.append(try link.client.receive()) }
        #expect(seen.last == .text("hello"))
        #expect(!seen.dropLast().contains(.nothing(.wantRead)))
    }

    @Test(arguments: TLSVersion.allCases)
    func `an orderly shutdown comes after the last bytes and is not an error`(version: TLSVersion) throws {
        let link = try link(version)
        #expect(link.handshake().isDone)
        _ = try link.server.send("last words")
        #expect(try link.server.shutdown() == .done)
        link.cutServer()
        #expect(try link.client.receive() == .text("last words"))
        #expect(try link.client.receive() == .nothing(.closed))
        #expect(try link.client.receive() == .nothing(.closed))
    }

    @Test(arguments: TLSVersion.allCases)
    func `a cut connection is an error after the last bytes`(version: TLSVersion) throws {
        let link = try link(version)
        #expect(link.handshake().isDone)
        _ = try link.server.send("last words")
        link.cutServer()
        #expect(try link.client.receive() == .text("last words"))
        #expect(throws: TLSError.cut) { try link.client.receive() }
    }

    @Test func `a cut during the handshake is an error on the other side`() throws {
        let link = try link()
        #expect(try link.client.handshake() == .wantRead)
        link.cutServer()
        #expect(link.handshake().clientError == .cut)
    }

    @Test func `writing to a closed peer gives the system's reason`() throws {
        let link = try link()
        #expect(link.handshake().isDone)
        link.cutServer()
        #expect(throws: TLSError.system(EPIPE)) { try link.client.send("hello") }
        #expect("\(TLSError.system(EPIPE))" == "Broken pipe")
    }

    /// Such records must count: the peer may have read the first record and replied to it before it closed the connection.
    @Test(arguments: TLSVersion.allCases)
    func `records sent before the connection broke count as written`(version: TLSVersion) throws {
        let link = try link(version, sockets: tcpPair())
        #expect(link.handshake().isDone)
        link.closeServer()
        // The first write succeeds, and the peer's system replies with a reset. Because of this reset, a later write fails.
        let bytes = [UInt8](repeating: 7, count: TLSSession.longestWrite)
        guard case .bytes(let count) = try bytes.withUnsafeBytes({ try link.client.write($0) }) else {
            Issue.record("the first record has left")
            return
        }
        #expect(count > 0 && count % (16 << 10) == 0)
        #expect(throws: TLSError.self) {
            for _ in 0..<100 { _ = try bytes.withUnsafeBytes { try link.client.write($0) } }
        }
    }

    @Test func `an error of one session does not disturb another`() throws {
        let broken = try link()
        let whole = try link()
        #expect(broken.handshake().isDone && whole.handshake().isDone)
        broken.cutServer()
        #expect(throws: TLSError.cut) { try broken.client.receive() }
        #expect(try whole.client.receive() == .nothing(.wantRead))
        #expect(try whole.client.send("still here") == .bytes(10))
        #expect(try whole.server.receive() == .text("still here"))
    }

    @Test func `a session stays valid after all other references to its context are released`() throws {
        let authority = try ThrowAwayAuthority()
        var server = ServerSettings(identity: try authority.server(names: ["localhost"]))
        server.applicationProtocols = ["h2"]
        let client = ClientSettings(
            trust: .authorities(authority.certificatePEM), applicationProtocols: ["h2"])
        let link = try Link(client: TLSContext(client: client), server: TLSContext(server: server))
        #expect(link.handshake().isDone)
        #expect(link.server.applicationProtocol == "h2")
    }
}
