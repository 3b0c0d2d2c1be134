import OpenSSL
import Simulator
import Testing

@Suite struct CertificateTests {
    @Test func `a server certificate contains its names and addresses`() throws {
        let names = ["api.push.test", "*.push.test", "localhost", "127.0.0.1", "2001:db8::1"]
        let certificate = try ThrowAwayAuthority().server(names: names).certificate
        #expect(certificate.hostNames == ["api.push.test", "*.push.test", "localhost"])
        #expect(certificate.addresses == ["127.0.0.1", "2001:db8::1"])
        #expect(!certificate.allowsClientAuthentication)
        #expect(certificate.userID == nil)
        #expect((396...398).contains((certificate.notAfter - certificate.notBefore) / 86_400))
    }

    @Test(arguments: ["", "a b", "a,DNS:b", "a\0b", "ü.example", String(repeating: "a", count: 254)])
    func `an invalid host name gets no certificate`(name: String) throws {
        let authority = try ThrowAwayAuthority()
        #expect(throws: CredentialError(.unusableText(name))) { try authority.server(names: [name]) }
    }

    @Test func `an authority can be loaded again`() throws {
        let authority = try ThrowAwayAuthority()
        let again = try ThrowAwayAuthority(pem: authority.pem.bytes)
        #expect(again.certificatePEM == authority.certificatePEM)
        let link = try Link(
            client: TLSContext(client: ClientSettings(trust: .authorities(authority.certificatePEM))),
            server: TLSContext(server: ServerSettings(identity: again.server(names: ["localhost"]))))
        #expect(link.handshake().isDone)
    }

    @Test func `bytes that are not a certificate are refused`() throws {
        let der = try ThrowAwayAuthority().client(bundle: "com.example").certificate.der
        for count in stride(from: 0, to: der.count, by: 3) {
            #expect(throws: CredentialError.self) { try Certificate(der: Array(der.prefix(count))) }
        }
    }
}
