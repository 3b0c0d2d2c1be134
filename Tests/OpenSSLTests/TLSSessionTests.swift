import Foundation
import OpenSSL
import Simulator
import Testing

/// One certificate authority for all connections of a test, because it takes long to make a key pair.
private final class TestAuthority {
    let authority: ThrowAwayAuthority
    var client: ClientSettings
    var server: ServerSettings

    init(names: [String] = ["localhost", "127.0.0.1", "::1", "*.push.test"]) throws {
        authority = try ThrowAwayAuthority()
        client = ClientSettings(trust: .authorities(authority.certificatePEM))
        server = ServerSettings(identity: try authority.server(names: names))
    }

    func link(serverName: String = "localhost") throws -> Link {
        try Link(
            client: TLSContext(client: client), server: TLSContext(server: server), serverName: serverName)
    }
}

@Suite struct TLSSessionTests {
    @Test(arguments: zip(TLSVersion.allCases, ["TLSv1.2", "TLSv1.3"]))
    func `both versions complete the handshake, report the agreement, and carry bytes`(
        version: TLSVersion, name: String
    ) throws {
        let world = try TestAuthority()
        world.client.maximumVersion = version
        world.client.minimumVersion = version
        let link = try world.link()
        #expect(link.handshake().isDone)
        #expect(link.client.version == name)
        #expect(link.server.version == name)
        #expect(link.client.cipher.contains("AES") || link.client.cipher.contains("CHACHA"))
        #expect(link.server.requestedServerName == "localhost")
        #expect(link.client.peerCertificate == world.server.identity.certificate)
        #expect(link.server.peerCertificate == nil)
        #expect(link.client.peerFault == nil)
        #expect(try link.client.receive() == .nothing(.wantRead))
        #expect(try link.client.send("hello") == .bytes(5))
        #expect(try link.server.receive() == .text("hello"))
        #expect(try link.server.send("good day") == .bytes(8))
        #expect(try link.client.receive() == .text("good day"))
    }

    @Test(arguments: [
        ("ECDHE-RSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES128-GCM-SHA256", true),
        ("ECDHE-RSA-AES256-GCM-SHA384:ECDHE-ECDSA-AES256-GCM-SHA384", true),
        ("ECDHE-RSA-CHACHA20-POLY1305:ECDHE-ECDSA-CHACHA20-POLY1305", true),
        // Cipher suites without authenticated encryption.
        ("ECDHE-RSA-AES128-SHA256:ECDHE-ECDSA-AES128-SHA256", false),
        ("ECDHE-RSA-AES256-SHA:ECDHE-ECDSA-AES256-SHA", false),
        // Cipher suites without forward secrecy.
        ("AES128-GCM-SHA256", false), ("AES256-SHA", false), ("DHE-RSA-AES128-GCM-SHA256", false),
    ])
    func `TLS 1.2 uses only ephemeral elliptic curves and authenticated ciphers`(
        suites: String, isSpoken: Bool
    ) throws {
        let world = try TestAuthority()
        world.server.maximumVersion = .tls12
        world.server.suites = suites
        let link = try world.link()
        let handshake = link.handshake()
        #expect(handshake.isDone == isSpoken)
        if isSpoken { #expect(suites.contains(link.client.cipher) && link.client.version == "TLSv1.2") }
        // The list of suites applies to TLS 1.2 only, so a connection with TLS 1.3 succeeds.
        let modern = try TestAuthority()
        modern.server.suites = suites
        #expect(try modern.link().handshake().isDone)
    }

    @Test(arguments: [
        (["h2"], ["h2", "http/1.1"], "h2" as String?), (["http/1.1", "h2"], ["h2", "http/1.1"], "h2"),
        (["http/1.1"], ["h2", "http/1.1"], "http/1.1"), ([], ["h2"], nil), (["h2"], [], nil), ([], [], nil),
    ])
    func `the server's preferred protocol wins and a client without protocols is accepted`(
        offered: [String], served: [String], chosen: String?
    ) throws {
        let world = try TestAuthority()
        world.client.applicationProtocols = offered
        world.server.applicationProtocols = served
        let link = try world.link()
        #expect(link.handshake().isDone)
        #expect(link.client.applicationProtocol == chosen)
        #expect(link.server.applicationProtocol == chosen)
    }

    @Test func `a client with only other protocols is refused`() throws {
        let world = try TestAuthority()
        world.client.applicationProtocols = ["http/1.1"]
        world.server.applicationProtocols = ["h2"]
        let result = try world.link().handshake()
        #expect(result.clientError == .alert("no application protocol"))
        #expect(result.serverError != nil)
    }

    @Test(arguments: ["localhost", "LOCALHOST", "localhost.", "127.0.0.1", "::1", "api.push.test"])
    func `names and addresses of the certificate are accepted`(name: String) throws {
        #expect(try TestAuthority().link(serverName: name).handshake().isDone)
    }

    @Test(arguments: [
        "example.com", "127.0.0.2", "::2", "push.test", "a.b.push.test", "localhost.example.com",
    ])
    func `another name or address is refused`(name: String) throws {
        let result = try TestAuthority().link(serverName: name).handshake()
        guard case .untrusted(.wrongHost, let text) = result.clientError else {
            Issue.record("\(result)")
            return
        }
        #expect(text.contains("mismatch"))
        #expect(result.serverError != nil || result.server == .success(.wantRead))
    }

    @Test func `an empty server name is an error and does not skip the check`() throws {
        #expect(throws: TLSError.self) { _ = try TestAuthority().link(serverName: "") }
        #expect(throws: TLSError.self) { _ = try TestAuthority().link(serverName: ".") }
    }

    @Test func `a server of an unknown authority is refused and gets the reason`() throws {
        let world = try TestAuthority()
        world.client.trust = .authorities(try ThrowAwayAuthority().certificatePEM)
        world.client.maximumVersion = .tls12
        let result = try world.link().handshake()
        guard case .untrusted(.unknownAuthority, _) = result.clientError else {
            Issue.record("\(result)")
            return
        }
        #expect(result.serverError == .alert("unknown CA"))
    }

    @Test func `system roots do not include the test authority`() throws {
        let world = try TestAuthority()
        world.client.trust = .system
        guard case .untrusted(.unknownAuthority, _) = try world.link().handshake().clientError else {
            Issue.record("accepted")
            return
        }
    }

    @Test func `without verification any server is accepted`() throws {
        let world = try TestAuthority()
        world.client.trust = .unverified
        let link = try world.link(serverName: "example.com")
        #expect(link.handshake().isDone)
        #expect(link.client.peerFault == .unknownAuthority)
    }

    @Test(arguments: [
        (Validity(notBefore: 1_000_000_000, notAfter: 1_100_000_000), CertificateFault.expired),
        (Validity(notBefore: 4_000_000_000, notAfter: 4_100_000_000), .notYetValid),
    ])
    func `a certificate outside its validity is refused`(validity: Validity, fault: CertificateFault) throws {
        let world = try TestAuthority()
        world.server.identity = try world.authority.server(names: ["localhost"], validity: validity)
        let result = try world.link().handshake()
        guard case .untrusted(fault, _) = result.clientError else {
            Issue.record("\(result)")
            return
        }
    }

    @Test func `a server's own certificate can be trusted without its authority`() throws {
        let world = try TestAuthority()
        let chain = String(decoding: world.server.identity.chainPEM, as: UTF8.self)
        let end = "-----END CERTIFICATE-----\n"
        let leaf = try #require(chain.range(of: end))
        world.client.trust = .authorities(String(chain[..<leaf.upperBound]).bytes)
        #expect(try world.link().handshake().isDone)
    }

    @Test(arguments: [
        (Trust.authorities("no PEM".bytes), "not a PEM file: it has no -----BEGIN line"),
        (.authorities([]), "the file is empty"),
        (.authorities(Vectors.certificateKey.bytes), "holds no certificate"),
        (.authorityFile("/no/such/ca.pem"), "/no/such/ca.pem: No such file or directory"),
    ])
    func `an unusable authority is refused before any dial`(trust: Trust, text: String) throws {
        let error = try #require(throws: CredentialError.self) {
            try TLSContext(client: ClientSettings(trust: trust))
        }
        #expect("\(error)" == text)
    }

    @Test func `without a common version both sides get the reason`() throws {
        let world = try TestAuthority()
        world.client.minimumVersion = .tls13
        world.server.maximumVersion = .tls12
        let result = try world.link().handshake()
        #expect(result.clientError == .alert("protocol version"))
        #expect(result.serverError == .library(text: "unsupported protocol"))
    }

    @Test func `a peer without TLS is recognised`() throws {
        let world = try TestAuthority()
        let (near, far) = socketPair()
        let session = try TLSSession(
            client: TLSContext(client: world.client), socket: near, serverName: "localhost")
        #expect(try session.handshake() == .wantRead)
        let reply = Array("-ERR unknown command\r\n".utf8)
        _ = reply.withUnsafeBytes { writeAll($0, to: far) }
        do throws(TLSError) {
            _ = try session.handshake()
            Issue.record("accepted")
        } catch {
            guard case .notTLS = error else {
                Issue.record("\(error)")
                return
            }
        }
    }
}
