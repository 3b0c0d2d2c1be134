import OpenSSL
import Simulator
import Testing

@Suite struct ClientCertificateTests {
    private let authority: [UInt8]
    private let server: TLSIdentity
    private let client: TLSIdentity
    private let expired: TLSIdentity
    private let stranger: TLSIdentity

    init() throws {
        let authority = try ThrowAwayAuthority()
        self.authority = authority.certificatePEM
        server = try authority.server(names: ["localhost"])
        client = try authority.client(bundle: "com.example")
        expired = try authority.client(
            bundle: "com.example", validity: Validity(notBefore: 1_000_000_000, notAfter: 1_100_000_000))
        stranger = try ThrowAwayAuthority(name: "A stranger").client(bundle: "com.example")
    }

    private func link(
        _ certificates: ServerSettings.ClientCertificates, _ identity: TLSIdentity?, _ version: TLSVersion
    ) throws -> Link {
        var settings = ClientSettings(trust: .authorities(authority), identity: identity)
        settings.maximumVersion = version
        return try Link(
            client: TLSContext(client: settings),
            server: TLSContext(server: ServerSettings(identity: server, clientCertificates: certificates)))
    }

    @Test(arguments: TLSVersion.allCases, [true, false])
    func `the server sees a valid certificate`(version: TLSVersion, isRequired: Bool) throws {
        let link = try link(
            isRequired ? .required(authorities: authority) : .optional(authorities: authority), client,
            version)
        #expect(link.handshake().isDone)
        #expect(link.server.peerCertificate == client.certificate)
        #expect(link.server.peerFault == nil)
    }

    @Test(arguments: TLSVersion.allCases)
    func `a client without a certificate is accepted where it is optional`(version: TLSVersion) throws {
        let link = try link(.optional(authorities: authority), nil, version)
        #expect(link.handshake().isDone)
        #expect(link.server.peerCertificate == nil)
    }

    @Test(arguments: TLSVersion.allCases)
    func `a client shows no certificate without a request`(version: TLSVersion) throws {
        let link = try link(.ignored, client, version)
        #expect(link.handshake().isDone)
        #expect(link.server.peerCertificate == nil)
    }

    @Test(arguments: TLSVersion.allCases)
    func `a client without a required certificate is refused and gets the reason`(version: TLSVersion) throws
    {
        let link = try link(.required(authorities: authority), nil, version)
        let result = link.handshake()
        guard case .untrusted(.missing, _) = result.serverError else {
            Issue.record("\(result)")
            return
        }
        // Only TLS 1.3 has an alert for a missing certificate. The client gets this alert after its own handshake is
        // complete.
        let alert = version == .tls12 ? "handshake failure" : "certificate required"
        let refusal = try refusal(result, link)
        #expect(refusal == .alert(alert))
    }

    @Test(arguments: TLSVersion.allCases)
    func `an expired certificate is refused and the client gets the reason`(version: TLSVersion) throws {
        let link = try link(.required(authorities: authority), expired, version)
        let result = link.handshake()
        guard case .untrusted(.expired, _) = result.serverError else {
            Issue.record("\(result)")
            return
        }
        #expect(try refusal(result, link) == .alert("certificate expired"))
    }

    @Test func `a certificate of an unknown authority is refused`() throws {
        let result = try link(.optional(authorities: authority), stranger, .tls13).handshake()
        guard case .untrusted(.unknownAuthority, _) = result.serverError else {
            Issue.record("\(result)")
            return
        }
    }

    @Test(arguments: TLSVersion.allCases)
    func `any chain to the authority may be accepted and its fault is recorded`(version: TLSVersion) throws {
        let chained = ServerSettings.ClientCertificates.required(authorities: authority, .chained)
        let link = try link(chained, expired, version)
        #expect(link.handshake().isDone)
        #expect(link.server.peerFault == .expired)
        #expect(link.server.peerCertificate == expired.certificate)
        let result = try self.link(chained, stranger, version).handshake()
        guard case .untrusted(.unknownAuthority, _) = result.serverError else {
            Issue.record("\(result)")
            return
        }
    }

    @Test(arguments: TLSVersion.allCases)
    func `any certificate may be accepted and its fault is recorded`(version: TLSVersion) throws {
        let link = try link(.required(authorities: [], .anything), stranger, version)
        #expect(link.handshake().isDone)
        #expect(link.server.peerFault == .unknownAuthority)
        #expect(link.server.peerCertificate == stranger.certificate)
    }

    /// The error that the client gets from the handshake or from its first read.
    private func refusal(_ result: Handshake, _ link: Link) throws -> TLSError? {
        if let error = result.clientError { return error }
        return #expect(throws: TLSError.self) { try link.client.receive() }
    }
}
