import OpenSSL
import Simulator
import Testing

@testable import APNs

struct ThrowAwayAuthorityTests {
    private static let topics = [
        ThrowAwayAuthority.Topic("com.example", kinds: ["app"]),
        ThrowAwayAuthority.Topic("com.example.voip", kinds: ["voip"]),
        ThrowAwayAuthority.Topic("com.example.complication", kinds: ["complication"]),
    ]

    @Test func `an APNs certificate has the fields of Apple's certificates`() throws {
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
        #expect(Self.topics(inValue: value) == Self.topics)
        #expect(certificate.value(ofExtension: "1.2.3") == nil)
        #expect(try Certificate(der: certificate.der) == certificate)
        #expect(certificate.serialNumber.count == 32)
        #expect(certificate.fingerprint.count == 64)
    }

    @Test(arguments: [
        ([ThrowAwayAuthority.Environment.sandbox], [true, false]), ([.production], [false, true]),
        ([], [false, false]),
    ])
    func `a certificate has the requested environments`(
        environments: [ThrowAwayAuthority.Environment], present: [Bool]
    ) throws {
        let certificate = try ThrowAwayAuthority().client(
            bundle: "com.example", environments: Set(environments)
        ).certificate
        let identifiers = [AppleExtension.sandbox, AppleExtension.production]
        #expect(identifiers.map { certificate.value(ofExtension: $0) != nil } == present)
        #expect(certificate.value(ofExtension: AppleExtension.topics) == nil)
    }

    @Test func `a long bundle id is complete in the UID`() throws {
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

    @Test(arguments: [0, 1, 5, 100, 3000]) func `a topic list may have any size`(count: Int) throws {
        let topics = (0..<count).map {
            ThrowAwayAuthority.Topic("com.example.a\($0)", kinds: ["app", "voip"])
        }
        let certificate = try ThrowAwayAuthority().client(bundle: "com.example", topics: topics).certificate
        let value = try #require(certificate.value(ofExtension: AppleExtension.topics))
        #expect(Self.topics(inValue: value) == topics)
    }

    /// The topics and kinds in the value of the topic list extension; nil if the value is malformed.
    private static func topics(inValue value: [UInt8]) -> [ThrowAwayAuthority.Topic]? {
        value.withUnsafeBytes { bytes in
            var outer = DERReader(bytes)
            guard let list = outer.next(DER.Tag.sequence), outer.isAtEnd else { return nil }
            var entries = DERReader(list)
            var topics: [ThrowAwayAuthority.Topic] = []
            while let name = entries.next(DER.Tag.utf8String) {
                guard let content = entries.next(DER.Tag.sequence) else { return nil }
                var reader = DERReader(content)
                var kinds: [String] = []
                while let kind = reader.next(DER.Tag.utf8String) {
                    kinds.append(String(decoding: kind, as: UTF8.self))
                }
                guard reader.isAtEnd else { return nil }
                topics.append(ThrowAwayAuthority.Topic(String(decoding: name, as: UTF8.self), kinds: kinds))
            }
            return entries.isAtEnd ? topics : nil
        }
    }
}
