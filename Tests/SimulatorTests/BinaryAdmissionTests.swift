import APNs
import EventLoop
import Foundation
import OpenSSL
import Simulator
import Testing
import Transport

@Suite struct BinaryAdmissionTests {
    @Test func `a client needs a certificate unless authentication is off`() async throws {
        try await TestGateway.run(.binary()) { test in
            try await self.expectRefusal(of: nil, test)
            #expect(test.binary.connections == 0)
        }
        try await TestGateway.run(.binary { $0.authentication = .none }) { test in
            let sender = try await test.send(isAnonymous: true)
            sender.write(.bad(1))
            #expect(await sender.untilEnd() == reply(8, 1))
        }
    }

    @Test func `a certificate of an unknown authority closes the connection`() async throws {
        try await TestGateway.run(.binary()) { test in
            let other = try ThrowAwayAuthority(name: "another")
            try await self.expectRefusal(of: try other.client(bundle: "com.example.demo"), test)
        }
    }

    @Test func `an expired certificate or one for another environment closes the connection`()
        async throws
    {
        try await TestGateway.run(.binary()) { test in
            let now = Int64(Date().timeIntervalSince1970)
            let authority = try test.authority()
            let wrong = [
                try authority.client(bundle: "com.example.demo", environments: [.sandbox]),
                try authority.client(
                    bundle: "com.example.demo", validity: Validity(notBefore: now - 900, notAfter: now - 60)),
            ]
            for identity in wrong { try await self.expectRefusal(of: identity, test) }
            #expect(test.binary.closedAtOnce == 2)
            for identity in wrong { #expect(try await test.feedback(certificate: identity) == []) }
        }
    }

    @Test func `a push gets the topic of the certificate`() async throws {
        try await TestGateway.run(.binary()) { test in
            let identity = try test.authority().client(bundle: "com.example.other")
            let sender = try await test.send(certificate: identity)
            sender.write(.bad(1))
            #expect(await sender.untilEnd() == reply(8, 1))
            #expect(try test.ledger().map { $0["topic"] } == ["com.example.other"])
        }
    }

    @Test func `a certificate without a topic gets status 3`() async throws {
        try await TestGateway.run(.binary()) { test in
            let sender = try await test.send(certificate: test.authority().client(bundle: ""))
            sender.write(.good(1))
            #expect(await sender.untilEnd() == reply(3, 1))
        }
    }

    /// Expects that the gateway refuses the client's certificate.
    /// The client gets the error in the handshake or at its first read, even if it has already written a push.
    @Loop private func expectRefusal(of identity: TLSIdentity?, _ test: TestGateway) async throws {
        do {
            let sender = try await test.send(certificate: identity, isAnonymous: identity == nil)
            sender.write(.good(1))
            #expect(await sender.untilEnd() == [])
        } catch is TransportError {}
        #expect(test.binary.frames == 0)
    }
}
