import APNs
import Foundation
import OpenSSL
import Simulator
import Testing

@Suite struct CredentialTests {
    @Test func `a connection has one stream until a valid provider token arrives`() async throws {
        try await TestGateway.run(.with { $0.streams = 500 }) { test in
            let client = try await test.connect()
            #expect(try await client.push([("authorization", "")]) == .response(403, "MissingProviderToken"))
            #expect(client.limits == [1])
            client.authorization = try test.authorization()
            #expect(try await client.pushes(20) == Array(repeating: .response(200), count: 20))
            #expect(client.limits == [1, 500])
        }
    }

    @Test func `the first-stream rule can be switched off`() async throws {
        try await TestGateway.run(.with { $0.firstStreamAlone = false }) { test in
            let client = try await test.connect()
            client.authorization = try test.authorization()
            #expect(try await client.push() == .response(200))
            #expect(client.limits == [1_000])
        }
    }

    @Test func `unknown key, wrong team, wrong signature, old and future tokens are refused`() async throws {
        try await TestGateway.run { test in
            let client = try await test.connect()
            func reply(_ authorization: String) async throws -> TestClient.Ending {
                try await client.push([("authorization", authorization)])
            }
            let invalid = TestClient.Ending.response(403, "InvalidProviderToken")
            #expect(try await reply(try test.authorization(key: "ABCDEFGHIJ")) == invalid)
            #expect(try await reply(try test.authorization(team: "ABCDEFGHIJ")) == invalid)
            let other = NSTemporaryDirectory() + "pushfarm-key-\(UUID().uuidString).p8"
            try Data(SigningKey.makePEM().bytes).write(to: URL(fileURLWithPath: other))
            defer { try? FileManager.default.removeItem(atPath: other) }
            #expect(try await reply(try test.authorization(file: other)) == invalid)
            #expect(try await reply(try test.authorization(age: -4_000)) == invalid)
            #expect(
                try await reply(try test.authorization(age: 3_700)) == .response(403, "ExpiredProviderToken"))
            #expect(try await reply(try test.authorization()) == .response(200))
        }
    }

    @Test func `a signature in DER form is accepted`() async throws {
        try await TestGateway.run { test in
            let client = try await test.connect()
            let parts = try test.authorization().dropFirst("bearer ".count).split(separator: ".")
            let raw = try #require(Base64URL.decode(parts[2].utf8))
            let der = ES256Signature.der(fromRaw: raw)
            let signature = String(decoding: Base64URL.encode(der), as: UTF8.self)
            client.authorization = "bearer \(parts[0]).\(parts[1]).\(signature)"
            #expect(try await client.push() == .response(200))
        }
    }

    @Test func `a second provider token too soon is refused, and the first stays valid`() async throws {
        try await TestGateway.run { test in
            let client = try await test.connectAndStart()
            let other = [("authorization", try test.authorization(age: 100))]
            #expect(try await client.push(other) == .response(429, "TooManyProviderTokenUpdates"))
            #expect(try await client.push() == .response(200))
        }
    }

    @Test func `keys for another environment and for other topics get different reasons`() async throws {
        let folder = NSTemporaryDirectory() + "pushfarm-keys-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let file = folder + "/key.p8"
        try Data(SigningKey.makePEM().bytes).write(to: URL(fileURLWithPath: file))
        try await TestGateway.run(
            .with {
                $0.keys = [
                    .init(id: "SANDBOXKEY", team: "T", file: file, environment: .sandbox),
                    .init(id: "TOPICKEY01", team: "T", file: file, topics: ["com.other"]),
                ]
            }
        ) { test in
            let client = try await test.connect()
            let sandbox = try test.authorization(key: "SANDBOXKEY", team: "T", file: file)
            #expect(
                try await client.push([("authorization", sandbox)])
                    == .response(403, "BadEnvironmentKeyIdInToken"))
            client.authorization = try test.authorization(key: "TOPICKEY01", team: "T", file: file)
            #expect(try await client.push() == .response(400, "TopicDisallowed"))
            #expect(try await client.push([("apns-topic", "com.other")]) == .response(200))
        }
    }

    @Test func `a topic that a key names belongs to its team`() async throws {
        let options = SimulatorOptions.with {
            $0.keyTopics = [SimulatorCredentials.keyID: ["com.example.demo"]]
        }
        try await TestGateway.run(options) { test in
            let client = try await test.connectAndStart()
            #expect(try await client.push([("apns-topic", "com.other")]) == .response(400, "TopicDisallowed"))
        }
        let folder = NSTemporaryDirectory() + "pushfarm-keys-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let file = folder + "/key.p8"
        try Data(SigningKey.makePEM().bytes).write(to: URL(fileURLWithPath: file))
        let other = SimulatorOptions.with {
            $0.keys = [.init(id: "OTHERKEY01", team: "OTHERTEAM1", file: file)]
            $0.keyTopics = ["OTHERKEY01": ["com.other"]]
            $0.keyEnvironments = [SimulatorCredentials.keyID: .production]
        }
        try await TestGateway.run(other) { test in
            let client = try await test.connectAndStart()
            let voip = [("apns-topic", "com.other.voip"), ("apns-push-type", "voip")]
            #expect(try await client.push([("apns-topic", "com.other")]) == .response(400, "TopicDisallowed"))
            #expect(try await client.push(voip) == .response(400, "TopicDisallowed"))
            let its = try await test.connect()
            its.authorization = try test.authorization(key: "OTHERKEY01", team: "OTHERTEAM1", file: file)
            #expect(try await its.push() == .response(400, "TopicDisallowed"))
            #expect(try await its.push([("apns-topic", "com.other")]) == .response(200))
        }
    }

    @Test func `the simulator's key can have another environment, and other keys must be known`()
        async throws
    {
        let sandbox = SimulatorOptions.with { $0.keyEnvironments = [SimulatorCredentials.keyID: .sandbox] }
        try await TestGateway.run(sandbox) { test in
            let client = try await test.connect()
            client.authorization = try test.authorization()
            #expect(try await client.push() == .response(403, "BadEnvironmentKeyIdInToken"))
        }
        let unknown = SimulatorOptions.with { $0.keyTopics = ["NOSUCHKEY1": ["com.other"]] }
        await #expect(
            throws: SimulatorError.unusable(
                "no signing key has the id NOSUCHKEY1; the known ids are \(SimulatorCredentials.keyID)")
        ) { try await TestGateway.run(unknown) { _ in } }
    }

    @Test func `a client certificate admits its topics, without the first-stream rule`() async throws {
        try await TestGateway.run { test in
            let identity = try TLSIdentity(file: test.gateway.credentials.clientPEM)
            let client = try await test.connect(certificate: identity)
            #expect(try await client.push() == .response(200))
            #expect(client.limits == [1_000])
            #expect(try await client.push([("apns-topic", "com.other")]) == .response(400, "TopicDisallowed"))
            #expect(try await client.push([("apns-topic", "")]) == .response(400, "MissingTopic"))
            let voip = [("apns-topic", "com.example.demo.voip"), ("apns-push-type", "voip")]
            #expect(try await client.push(voip) == .response(200))
        }
    }

    @Test func `the .p12 file opens with its password and works`() async throws {
        try await TestGateway.run { test in
            let bytes = try Data(contentsOf: URL(fileURLWithPath: test.gateway.credentials.clientPKCS12))
            let identity = try TLSIdentity(pkcs12: Array(bytes), password: SimulatorCredentials.password)
            let client = try await test.connect(certificate: identity)
            #expect(try await client.push() == .response(200))
        }
    }

    @Test func `a certificate for another environment gets GOAWAY at once`() async throws {
        try await TestGateway.run { test in
            let folder = test.gateway.options.folder
            let pem = try Data(contentsOf: URL(fileURLWithPath: folder + "/authority.pem"))
            let authority = try ThrowAwayAuthority(pem: Array(pem))
            let identity = try authority.client(bundle: "com.example.demo", environments: [.sandbox])
            let client = try await test.connect(certificate: identity)
            await client.until { client.end != nil }
            #expect(client.goAways == [#"0 {"reason":"BadCertificateEnvironment"}"#])
        }
    }

    @Test func `an expired certificate is refused`() async throws {
        try await TestGateway.run { test in
            let folder = test.gateway.options.folder
            let pem = try Data(contentsOf: URL(fileURLWithPath: folder + "/authority.pem"))
            let now = Int64(Date().timeIntervalSince1970)
            let identity = try ThrowAwayAuthority(pem: Array(pem)).client(
                bundle: "com.example.demo", validity: Validity(notBefore: now - 900, notAfter: now - 60))
            let client = try await test.connect(certificate: identity)
            #expect(try await client.push() == .response(403, "BadCertificate"))
        }
    }

    @Test func `credentials are made once, are readable only by the owner, and are reused`() throws {
        let folder = NSTemporaryDirectory() + "pushfarm-folder-\(UUID().uuidString)/sub"
        defer { try? FileManager.default.removeItem(atPath: (folder as NSString).deletingLastPathComponent) }
        let names = ["localhost", "127.0.0.1", "::1"]
        func contents() throws -> [String: Data] {
            var contents: [String: Data] = [:]
            for file in try FileManager.default.contentsOfDirectory(atPath: folder) {
                contents[file] = try Data(contentsOf: URL(fileURLWithPath: folder + "/" + file))
                let attributes = try FileManager.default.attributesOfItem(atPath: folder + "/" + file)
                #expect(attributes[.posixPermissions] as? Int == 0o600, "\(file)")
            }
            return contents
        }
        _ = try SimulatorCredentials(folder: folder, serverNames: names, bundle: "com.a")
        let first = try contents()
        #expect(
            Set(first.keys) == [
                "AuthKey_SIMULATOR1.p8", "authority.pem", "ca.pem", "push.p12", "push.pem", "server.pem",
            ])
        let attributes = try FileManager.default.attributesOfItem(atPath: folder)
        #expect(attributes[.posixPermissions] as? Int == 0o700)
        _ = try SimulatorCredentials(folder: folder, serverNames: names, bundle: "com.a")
        #expect(try contents() == first)
        let changed = try SimulatorCredentials(
            folder: folder, serverNames: names + ["gw.test"], bundle: "com.b")
        let third = try contents()
        #expect(third["server.pem"] != first["server.pem"])
        #expect(third["push.p12"] != first["push.p12"])
        #expect(third["AuthKey_SIMULATOR1.p8"] == first["AuthKey_SIMULATOR1.p8"])
        #expect(third["ca.pem"] == first["ca.pem"])
        #expect(changed.instructions(port: 8443).contains("gateway: https://localhost:8443"))
    }
}
