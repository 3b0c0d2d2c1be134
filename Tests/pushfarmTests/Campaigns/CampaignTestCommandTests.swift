import FarmHarness
import Foundation
import Registry
import RegistryTesting
import Testing

/// `pushfarm campaigns test`, on a private Redis without coordinators.
@Suite(.timeLimit(.minutes(5))) struct CampaignTestCommandTests {
    private static let definition = #"""
        {"id": "ed-1", "segment": "tag:none", "priority": 5,
         "translations": {"de": {"aps": {"alert": "Hallo {{user|du}}"}}, "default": {"aps": {"alert": "Hi {{id}}"}}},
         "repeat": {"every": "25m"}, "fallback": {"payload": {"aps": {"alert": "Last"}}}}
        """#

    private let folder: TestFolder
    private let devices: StoredDevices
    private let file: String

    init() throws {
        folder = try TestFolder()
        devices = try StoredDevices([
            .made(1, user: "Ada", details: [.lang: "de"], day: StoredDevices.today),
            .made(2, day: StoredDevices.today),
        ])
        file = try folder.write(Self.definition, to: "edition.json")
    }

    /// The jobs in the inbox.
    private func jobs() throws -> [String] {
        try devices.redis.run("LRANGE", "pushfarm:demo", "0", "-1").array?.compactMap(\.text) ?? []
    }

    private static func body(_ id: Any?, _ rest: String) -> String { #"{"id":"\#(id ?? "")",\#(rest)"# }

    @Test func `the job has the message and options of the campaign, and the values of each device`()
        async throws
    {
        let test = ["campaigns", "test", file, "--devices", "d-2,d-1", "--app", "demo"]
        let message =
            #""translations":{"de": {"aps": {"alert": "Hallo {{user|du}}"}}, "default": {"aps": {"alert": "Hi {{id}}"}}},"#
            + #""priority":5,"collapse_id":"ed-1","pushes":[{"device":"d-2","values":{"id":"d-2"}},"#
            + #"{"device":"d-1","lang":"de","values":{"id":"d-1","user":"Ada","lang":"de"}}]}"#
        let dry = try await devices.run(test + ["--dry-run"])
        #expect(dry.status == 0 && dry.output.hasSuffix(message + "\n"), "\(dry)")
        #expect(try jobs().isEmpty)

        let result = try await devices.document(
            "campaigns", "test", file, "--devices", "d-2,d-1", "--app", "demo")
        #expect(try jobs() == [Self.body(result["id"], message)])
        #expect(result["devices"] as? Int == 2)
        #expect(try devices.redis.run("EXISTS", "{pushfarm:demo}:campaign:ed-1").integer == 0)
    }

    @Test func `a stored campaign and the payload of fallback can be tested`() async throws {
        let created = try await devices.run("campaigns", "create", file, "--app", "demo")
        #expect(created.status == 0, "\(created)")
        let result = try await devices.document(
            "campaigns", "test", "ed-1", "--devices", "d-2", "--fallback")
        #expect(
            try jobs() == [
                Self.body(
                    result["id"],
                    #""payload":{"aps": {"alert": "Last"}},"priority":5,"collapse_id":"ed-1","#
                        + #""pushes":[{"device":"d-2","values":{"id":"d-2"}}]}"#)
            ])
        #expect(try devices.redis.run("HGET", "{pushfarm:demo}:campaign:ed-1", "state").text == "draft")
    }

    @Test func `a test of a campaign with variants sends the named variant`() async throws {
        let file = try folder.write(Self.variants, to: "variants.json")
        for (name, payload) in [
            ("short", #"{"aps":{"alert":"Hi"}}"#), ("long", #"{"aps":{"alert":"Hello"}}"#),
        ] {
            let dry = try await devices.run([
                "campaigns", "test", file, "--devices", "d-1", "--variant", name, "--app", "demo",
                "--dry-run",
            ])
            #expect(dry.status == 0, "\(dry)")
            let job = try JSONSerialization.jsonObject(with: Data(dry.output.utf8)) as? [String: Any]
            let language = try #require((job?["pushes"] as? [[String: Any]])?.first?["lang"] as? String)
            let sent = (job?["translations"] as? [String: Any])?[language] as? NSDictionary
            let wanted = try JSONSerialization.jsonObject(with: Data(payload.utf8)) as? NSDictionary
            #expect(sent != nil && sent == wanted, "\(name): \(dry.output)")
        }
        let help = try await devices.run(["campaigns", "test", "--help"])
        #expect(help.output.contains("--variant <name>        The variant, if the campaign has variants."))
    }

    private static let variants = #"""
        {"id": "v-1", "segment": "all", "rate": 10,
         "variants": [{"name": "short", "payload": {"aps":{"alert":"Hi"}}},
                      {"name": "long", "payload": {"aps":{"alert":"Hello"}}}]}
        """#

    @Test func `a wrong test sends nothing`() async throws {
        let plain = try folder.write(#"{"id":"p","segment":"all","payload":{"aps":{}}}"#, to: "plain.json")
        let variants = try folder.write(Self.variants, to: "variants.json")
        let wrong: [(words: [String], status: Int32, error: String)] = [
            ([file, "--devices", "d-1,d-9"], 1, "demo has no device d-9"),
            ([file, "--devices", ","], 2, "--devices needs from 1 to 100 ids."),
            ([plain, "--devices", "d-1", "--fallback"], 2, "the campaign has no \"fallback\""),
            (["nothing", "--devices", "d-1"], 1, "there is no campaign nothing"),
            ([plain, "--devices", "d-1", "--variant", "x"], 2, "the campaign has no \"variants\""),
            ([variants, "--devices", "d-1", "--variant", "x"], 2, "the campaign's variants: short, long"),
            ([variants, "--devices", "d-1"], 2, "the campaign's variants: short, long"),
        ]
        for (words, status, error) in wrong {
            let result = try await devices.run(["campaigns", "test"] + words + ["--app", "demo"])
            #expect(result.status == status && result.error.contains(error), "\(words): \(result)")
        }
        #expect(try jobs().isEmpty)
    }
}
