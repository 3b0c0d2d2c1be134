import APNs
import EventLoop
import Foundation
import LoopTesting
import OpenSSL
import PushModel
import Simulator
import Testing

@Suite struct ResponseTests {
    @Test func `a valid push is accepted with its id and noted in the ledger`() async throws {
        try await TestGateway.run { test in
            let client = try await test.connect()
            client.authorization = try test.authorization()
            let fields = [
                ("apns-expiration", "1780000000"), ("apns-priority", "5"), ("apns-collapse-id", "a\"b"),
            ]
            #expect(try await client.push(fields) == .response(200))
            let line = try #require(try test.ledger().first)
            #expect(line["connection"] == "1")
            #expect(line["stream"] == "1")
            #expect(line["apns_id"] == TestClient.id)
            #expect(line["token"] == TestClient.token)
            #expect(line["topic"] == "com.example.demo")
            #expect(line["push_type"] == "alert")
            #expect(line["priority"] == "5")
            #expect(line["expiration"] == "1780000000")
            #expect(line["collapse_id"] == "a\"b")
            #expect(line["status"] == "200")
            #expect(line["reason"] == nil)
            let hash = Hexadecimal.text(of: SHA256.hash(Array(#"{"aps":{"alert":"Hi"}}"#.utf8)))
            #expect(line["body_sha256"] == hash)
            let age = Date().timeIntervalSince1970 * 1000 - (Double(line["time"] ?? "") ?? 0)
            #expect((0..<60_000).contains(age))
        }
    }

    /// Sends a push without an id, and returns the id that the gateway makes.
    @Loop private func idOfPush(at test: TestGateway) async throws -> String {
        let client = try await test.connect()
        client.authorization = try test.authorization()
        guard case .responded(200, _, let id, _) = try await client.push([("apns-id", "")]) else {
            throw TestGateway.Unexpected(what: "not accepted")
        }
        return id
    }

    @Test func `the gateway makes an id for a push without one`() async throws {
        try await TestGateway.run { test in
            let id = try await self.idOfPush(at: test)
            #expect(UUID(uuidString: id) != nil)
            #expect(id == id.lowercased())
        }
    }

    @Test func `the gateway's ids have UUID version 4 and differ at each start`() async throws {
        let ids = await Mailbox<String>()
        for _ in 0..<3 {
            try await TestGateway.run { test in
                let id = try await self.idOfPush(at: test)
                ids.put(id)
                let text = Array(id)
                #expect(text[14] == "4" && "89ab".contains(text[19]))
            }
        }
        #expect(await Set(ids.all).count == 3)
    }

    private static let refusals:
        [(name: String, fields: [(String, String)], status: UInt16, reason: String)] = [
            ("id", [("apns-id", "no uuid")], 400, "BadMessageId"),
            ("expiration", [("apns-expiration", "soon")], 400, "BadExpirationDate"),
            ("priority", [("apns-priority", "7")], 400, "BadPriority"),
            ("type", [("apns-push-type", "shout")], 400, "InvalidPushType"),
            ("collapse id", [("apns-collapse-id", String(repeating: "x", count: 65))], 400, "BadCollapseId"),
            ("no topic", [("apns-topic", "")], 400, "MissingTopic"),
            ("suffix", [("apns-push-type", "voip")], 400, "BadTopic"),
            ("twice", [("apns-topic", "com.example.demo"), ("apns-topic", "x")], 400, "DuplicateHeaders"),
            ("an unknown one twice", [("x-any", "1"), ("x-any", "2")], 400, "DuplicateHeaders"),
            ("background", [("apns-push-type", "background"), ("apns-priority", "10")], 400, "BadPriority"),
            ("no token", [("authorization", "")], 403, "MissingProviderToken"),
            ("no JWT", [("authorization", "bearer abc")], 403, "InvalidProviderToken"),
        ]

    @Test(arguments: refusals.map(\.name))
    func `a wrong header is refused with Apple's reason`(name: String) async throws {
        let row = Self.refusals.first { $0.name == name }!
        try await TestGateway.run { test in
            let client = try await test.connect()
            client.authorization = try test.authorization()
            guard case .responded(let status, let body, _, _) = try await client.push(row.fields) else {
                Issue.record("no answer")
                return
            }
            #expect(status == row.status)
            #expect(body == "{\"reason\":\"\(row.reason)\"}")
            #expect(try test.ledger().map { $0["reason"] } == [row.reason])
        }
    }

    @Test func `method, path and payload are checked`() async throws {
        try await TestGateway.run { test in
            let client = try await test.connectAndStart()
            #expect(try await client.push(method: "PUT") == .response(405, "MethodNotAllowed"))
            #expect(try await client.push(path: "/2/device/00") == .response(404, "BadPath"))
            #expect(try await client.push(path: "/3/device/") == .response(400, "MissingDeviceToken"))
            #expect(try await client.push(token: "xyz") == .response(400, "BadDeviceToken"))
            for short in ["a7", String(repeating: "a7", count: 7)] {
                #expect(try await client.push(token: short) == .response(400, "BadDeviceToken"))
            }
            #expect(try await client.push(token: String(repeating: "a7", count: 8)) == .response(200))
            #expect(try await client.push(body: "") == .response(400, "PayloadEmpty"))
            let largest = String(repeating: "x", count: 4_096)
            #expect(try await client.push(body: largest) == .response(200))
            #expect(try await client.push(body: largest + "x") == .response(413, "PayloadTooLarge"))
            let voip = [("apns-push-type", "voip"), ("apns-topic", "com.example.demo.voip")]
            #expect(try await client.push(body: largest + "x", voip) == .response(200))
            let huge = String(repeating: "x", count: 70_000)
            #expect(try await client.push(body: huge) == .response(413, "PayloadTooLarge"))
        }
    }

    @Test func `a payload other than a JSON object is accepted with a warning`() async throws {
        try await TestGateway.run { test in
            let client = try await test.connectAndStart()
            for body in ["[1]", "{\"aps\":", "[1]", "{}"] {
                #expect(try await client.push(body: body) == .response(200))
            }
            let warnings = try test.ledger().map { $0["warning"] }
            #expect(warnings[1] == "the payload is not a JSON object")
            #expect(warnings[2]?.hasPrefix("the payload is not JSON: ") == true)
            #expect(warnings[3] == warnings[1])
            #expect([warnings[0], warnings[4]] == [nil, nil])
            #expect(test.gateway.counters.warnings == 3)
        }
    }

    @Test func `the prefix of a token chooses the token's state`() async throws {
        try await TestGateway.run { test in
            let client = try await test.connectAndStart()
            func token(_ prefix: String) -> String {
                prefix + String(repeating: "5", count: 64 - prefix.count)
            }
            #expect(try await client.push(token: token("bad00000")) == .response(400, "BadDeviceToken"))
            #expect(
                try await client.push(token: token("BAD10000")) == .response(400, "DeviceTokenNotForTopic"))
            #expect(try await client.push(token: token("bad20000")) == .response(400, "BadDeviceToken"))
            #expect(try await client.push(token: token("f100d000")) == .response(429, "TooManyRequests"))
            #expect(try await client.push(token: token("e5000000")) == .response(500, "InternalServerError"))
            #expect(try await client.push(token: token("e5030000")) == .response(503, "ServiceUnavailable"))
            #expect(try await client.push(token: token("bad00001")) == .response(200))
            guard
                case .responded(410, let body, _, _) = try await client.push(token: token("dead000165f0a1b2"))
            else {
                Issue.record("not gone")
                return
            }
            #expect(body == #"{"reason":"Unregistered","timestamp":\#(0x65f0_a1b2 * 1000)}"#)
            guard case .responded(410, let gone, _, _) = try await client.push(token: token("fade0000"))
            else {
                Issue.record("not gone")
                return
            }
            #expect(gone.hasPrefix(#"{"reason":"ExpiredToken","timestamp":"#))
        }
    }

    @Test func `a token file and a command can choose the state of single tokens`() async throws {
        let file = NSTemporaryDirectory() + "pushfarm-tokens-\(UUID().uuidString)"
        let text =
            "# two of them\naabb000011223344 bad\nAABB110011223344  unregistered 2023-11-14T22:13:20Z # since then\n\naabb220011223344 silent\n"
        try text.write(toFile: file, atomically: true, encoding: .utf8)
        defer { try? FileManager.default.removeItem(atPath: file) }
        try await TestGateway.run(.with { $0.tokenFile = file }) { test in
            let client = try await test.connectAndStart()
            #expect(try await client.push(token: "AABB000011223344") == .response(400, "BadDeviceToken"))
            #expect(try await client.push(token: "aabb330011223344") == .response(200))
            guard case .responded(410, let body, _, _) = try await client.push(token: "aabb110011223344")
            else {
                Issue.record("not gone")
                return
            }
            #expect(body == #"{"reason":"Unregistered","timestamp":1700000000000}"#)
            _ = try await test.control("token aabb330011223344 throttled")
            #expect(try await client.push(token: "aabb330011223344") == .response(429, "TooManyRequests"))
            _ = try await test.control("token aabb330011223344 forget")
            #expect(try await client.push(token: "aabb330011223344") == .response(200))
        }
    }

    @Test(arguments: ["aabb", "aabb nonsense", "aabb bad soon", "xyz bad", "aabb bad 1 2"])
    func `an invalid line in the token file is reported with its line number`(line: String) async throws {
        let file = NSTemporaryDirectory() + "pushfarm-tokens-\(UUID().uuidString)"
        try "aa bad\n\(line)\n".write(toFile: file, atomically: true, encoding: .utf8)
        defer { try? FileManager.default.removeItem(atPath: file) }
        let error = await #expect(throws: SimulatorError.self) {
            try await TestGateway.run(.with { $0.tokenFile = file }) { _ in }
        }
        #expect(error?.description.contains("\(file), line 2") == true)
    }

    @Test func `options switch TLS and credentials off`() async throws {
        try await TestGateway.run(
            .with {
                $0.usesTLS = false
                $0.authentication = .none
            }
        ) { test in
            let client = try await test.connect()
            #expect(try await client.push() == .response(200))
            #expect(client.limits == [1_000])
        }
    }

    @Test func `a client without ALPN is served, and a client with another protocol is refused`()
        async throws
    {
        try await TestGateway.run { test in
            let client = try await test.connect(alpn: [])
            client.authorization = try test.authorization()
            #expect(try await client.push() == .response(200))
            await #expect(throws: (any Error).self) { _ = try await test.connect(alpn: ["http/1.1"]) }
        }
    }

    @Test func `only the sandbox returns a second id`() async throws {
        try await TestGateway.run(.with { $0.environment = .sandbox }) { test in
            let client = try await test.connectAndStart()
            #expect(UUID(uuidString: client.uniqueIDs[0]) != nil)
        }
        try await TestGateway.run { test in
            let client = try await test.connectAndStart()
            #expect(client.uniqueIDs == [""])
        }
    }
}
