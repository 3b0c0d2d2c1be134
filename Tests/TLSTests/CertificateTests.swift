import TLS
import Testing

@Suite struct CertificateTests {
    private static let topics = [
        AppleExtension.Topic("com.example", kinds: ["app"]),
        AppleExtension.Topic("com.example.voip", kinds: ["voip"]),
        AppleExtension.Topic("com.example.complication", kinds: ["complication"]),
    ]

    @Test func `an APNs certificate says what Apple's do`() throws {
        let validity = Validity(notBefore: 1_700_000_000, notAfter: 1_734_300_800)
        let identity = try ThrowAwayAuthority().client(
            bundle: "com.example", topics: Self.topics, validity: validity)
        let certificate = identity.certificate
        #expect(certificate.subject == "CN=Apple Push Services: com.example,UID=com.example")
        #expect(certificate.issuer == "CN=Pushfarm throw-away authority")
        #expect(certificate.commonName == "Apple Push Services: com.example")
        #expect(certificate.userID == "com.example")
        #expect(certificate.notBefore == 1_700_000_000)
        #expect(certificate.notAfter == 1_734_300_800)
        #expect(certificate.allowsClientAuthentication)
        #expect(certificate.value(ofExtension: "1.2.840.113635.100.6.3.1") == [5, 0])
        #expect(certificate.value(ofExtension: "1.2.840.113635.100.6.3.2") == [5, 0])
        #expect(certificate.value(ofExtension: "1.2.840.113635.100.6.3.4") == [5, 0])
        let value = try #require(certificate.value(ofExtension: "1.2.840.113635.100.6.3.6"))
        #expect(AppleExtension.topics(inValue: value) == Self.topics)
        #expect(certificate.value(ofExtension: "1.2.3") == nil)
        #expect(try Certificate(der: certificate.der) == certificate)
        #expect(certificate.serialNumber.count == 32)
        #expect(certificate.fingerprint.count == 64)
    }

    @Test(arguments: [
        ([ThrowAwayAuthority.Environment.sandbox], [true, false]), ([.production], [false, true]),
        ([], [false, false]),
    ])
    func `the environments are as asked for`(
        environments: [ThrowAwayAuthority.Environment], present: [Bool]
    ) throws {
        let certificate = try ThrowAwayAuthority().client(
            bundle: "com.example", environments: Set(environments)
        ).certificate
        let identifiers = [AppleExtension.sandbox, AppleExtension.production]
        #expect(identifiers.map { certificate.value(ofExtension: $0) != nil } == present)
        #expect(certificate.value(ofExtension: AppleExtension.topics) == nil)
    }

    @Test func `a server certificate has its names and addresses`() throws {
        let names = ["api.push.test", "*.push.test", "localhost", "127.0.0.1", "2001:db8::1"]
        let certificate = try ThrowAwayAuthority().server(names: names).certificate
        #expect(certificate.hostNames == ["api.push.test", "*.push.test", "localhost"])
        #expect(certificate.addresses == ["127.0.0.1", "2001:db8::1"])
        #expect(!certificate.allowsClientAuthentication)
        #expect(certificate.userID == nil)
        #expect((396...398).contains((certificate.notAfter - certificate.notBefore) / 86_400))
    }

    @Test(arguments: ["", "a b", "a,DNS:b", "a\0b", "ü.example", String(repeating: "a", count: 254)])
    func `a text that is no host name gets no certificate`(name: String) throws {
        let authority = try ThrowAwayAuthority()
        #expect(throws: CredentialError(.unusableText(name))) { try authority.server(names: [name]) }
    }

    @Test func `a long bundle id is kept whole in the UID`() throws {
        let bundle = "com.example." + String(repeating: "verylong.", count: 12) + "app"
        let certificate = try ThrowAwayAuthority().client(bundle: bundle).certificate
        #expect(certificate.userID == bundle)
        #expect(certificate.commonName?.count == 64)
    }

    @Test func `serial numbers and keys differ`() throws {
        let authority = try ThrowAwayAuthority()
        let first = try authority.client(bundle: "com.example")
        let second = try authority.client(bundle: "com.example")
        #expect(first.certificate.serialNumber != second.certificate.serialNumber)
        #expect(first.keyPEM != second.keyPEM)
    }

    @Test func `an authority can be taken up again`() throws {
        let authority = try ThrowAwayAuthority()
        let again = try ThrowAwayAuthority(pem: authority.pem.bytes)
        #expect(again.certificatePEM == authority.certificatePEM)
        let link = try Link(
            client: TLSContext(client: ClientSettings(trust: .authorities(authority.certificatePEM))),
            server: TLSContext(server: ServerSettings(identity: again.server(names: ["localhost"]))))
        #expect(link.handshake().isDone)
    }

    @Test func `bytes that are no certificate are refused`() throws {
        let der = try ThrowAwayAuthority().client(bundle: "com.example").certificate.der
        for count in stride(from: 0, to: der.count, by: 3) {
            #expect(throws: CredentialError.self) { try Certificate(der: Array(der.prefix(count))) }
        }
    }

    @Test(arguments: [
        [], [0x30], [0x30, 0x80], [0x30, 0x02, 0x0C], [0x30, 0x03, 0x0C, 0x02, 0x61], [0x0C, 0x01, 0x61],
        [0x30, 0x02, 0x30, 0x00], [0x30, 0x84, 0xFF, 0xFF, 0xFF, 0xFF], [0x30, 0x02, 0x02, 0x00],
        [0x30, 0x88, 0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF],
    ])
    func `a malformed topic list is nil`(value: [UInt8]) {
        #expect(AppleExtension.topics(inValue: value) == nil)
    }

    @Test func `a topic list of any size comes back`() {
        for count in [0, 1, 5, 100, 3000] {
            let topics = (0..<count).map {
                AppleExtension.Topic("com.example.a\($0)", kinds: ["app", "voip"])
            }
            #expect(AppleExtension.topics(inValue: AppleExtension.value(ofTopics: topics)) == topics)
        }
    }
}
