import OpenSSL
import Simulator
import Testing

@Suite struct KeyUpdateTests {
    private func link(_ version: TLSVersion = .tls13) throws -> Link {
        let authority = try ThrowAwayAuthority()
        var client = ClientSettings(trust: .authorities(authority.certificatePEM))
        client.maximumVersion = version
        let server = ServerSettings(identity: try authority.server(names: ["localhost"]))
        let link = try Link(client: TLSContext(client: client), server: TLSContext(server: server))
        #expect(link.handshake().isDone)
        return link
    }

    @Test func `a key update gets its reply at the next read and data passes before and after`()
        throws
    {
        let link = try link()
        #expect(link.client.hasKeyUpdates == true)
        for round in 0..<100 {
            #expect(try link.client.send("before") == .bytes(6))
            #expect(try link.client.requestKeyUpdate() == .done)
            #expect(try link.client.send("after") == .bytes(5))
            #expect(try link.client.receive() == .nothing(.wantRead))
            #expect(link.client.keyUpdates == max(0, round * 2 - 1), "nothing of it was read yet")
            #expect(try link.server.receive() == .text("before"))
            // OpenSSL does not reply when it reads a key update. It first returns the data after the update, and replies at
            // its next read.
            #expect(try link.server.receive() == .text("after"))
            #expect(try link.client.requestKeyUpdate() == .done)
            #expect(try link.server.receive() == .nothing(.wantRead))
            #expect(try link.client.receive() == .nothing(.wantRead))
            #expect(link.client.keyUpdates == round * 2 + 1)
        }
        #expect(try link.server.send("good day") == .bytes(8))
        #expect(try link.client.receive() == .text("good day"))
    }

    @Test func `a key update does not end the data behind it`() throws {
        let link = try link()
        _ = try link.client.requestKeyUpdate()
        _ = try link.client.requestKeyUpdate()
        _ = try link.client.send("hello")
        // One read must return the data after the key updates. The bytes are no longer in the socket, so no poll event would
        // cause a second read.
        #expect(try link.server.receive() == .text("hello"))
    }

    @Test func `a full socket accepts the key update later and loses nothing`() throws {
        let link = try link()
        var written = 0
        let bytes = [UInt8](repeating: 7, count: 1 << 14)
        while case .bytes(let count) = try bytes.withUnsafeBytes({ try link.client.write($0) }) {
            written += count
            // The loop ends after a partial write. After a blocked write, OpenSSL would require a retry of this write before
            // the key update.
            guard count == bytes.count else { break }
        }
        var read = 0
        var room = [UInt8](repeating: 0, count: 1 << 16)
        func readAll() throws {
            while case .bytes(let count) = try room.withUnsafeMutableBytes({ try link.server.read(into: $0) })
            {
                read += count
            }
        }
        try readAll()
        while case .bytes(let count) = try bytes.withUnsafeBytes({ try link.client.write($0) }) {
            written += count
            if case .wantWrite = try link.client.requestKeyUpdate() { break }
        }
        while try link.client.requestKeyUpdate() != .done { try readAll() }
        try readAll()
        #expect(read == written)
        #expect(try link.client.receive() == .nothing(.wantRead))
        #expect(link.client.keyUpdates > 0)
    }

    @Test func `a key update of the peer's own is no reply`() throws {
        let link = try link()
        #expect(try link.client.requestKeyUpdate() == .done)
        #expect(try link.server.requestKeyUpdate() == .done)
        #expect(try link.server.send("hello") == .bytes(5))
        #expect(try link.client.receive() == .text("hello"))
        #expect(link.client.keyUpdates == 0)
    }

    @Test func `TLS 1.2 has no key updates`() throws {
        let link = try link(.tls12)
        #expect((link.client.hasKeyUpdates, link.client.keyUpdates) == (false, 0))
        #expect(throws: TLSError.self) { try link.client.requestKeyUpdate() }
    }
}
