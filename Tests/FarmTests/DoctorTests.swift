import FarmHarness
import Foundation
import Testing

/// `pushfarm doctor` sends one push to a token that cannot exist.
@Suite(.startsProcesses) struct DoctorTests {
    private struct Report: Decodable {
        struct Check: Decodable {
            let check: String
            let grade: String
            let text: String
            let advice: String?
        }
        let checks: [Check]

        func live(_ app: String) -> Check? { checks.first { $0.check == app + " live" } }
    }

    private func report(_ farm: Farm, _ options: String..., status: Int32) async throws -> Report {
        let result = try await farm.run(
            ["doctor", "--json"] + options + ["--config", farm.folder.path + "/pushfarm.yaml"])
        #expect(result.status == status, "\(result)")
        return try JSONDecoder().decode(Report.self, from: Data(result.output.utf8))
    }

    @Test func `doctor finds a wrong team, key id and topic without making a provider token`()
        async throws
    {
        let farm = try await Farm(
            Farm.Options(
                simulatorOptions: ["--key-topics", "SIMULATOR1:com.example.demo"],
                apps: { started, folder in
                    func key(_ id: String, _ team: String) -> String {
                        "key: { file: \(started.keyFile), id: \(id), team: \(team) }"
                    }
                    var topic = App(started, name: "topic")
                    topic.topic = "com.example.else"
                    return [
                        App(started, name: "right"),
                        App(started, name: "team", credentials: key(started.keyID, "WRONGTEAM1")),
                        App(started, name: "id", credentials: key("WRONGKEY01", started.team)),
                        topic,
                    ]
                }))
        _ = try await farm.ready()
        let verified = try farm.gateway.counter("tokens_verified")
        let first = try await report(farm, status: 1)
        #expect(first.live("right")?.grade == "ok", "\(first)")
        for (app, words) in [
            ("team", "InvalidProviderToken"), ("id", "InvalidProviderToken"),
            ("topic", "TopicDisallowed"),
        ] {
            let finding = try #require(first.live(app))
            #expect(finding.grade == "failed" && finding.text.contains(words), "\(finding)")
            #expect(finding.advice != nil)
        }
        let requests = try farm.gateway.ledger().lines.count
        #expect(requests == 4)
        // Doctor used only provider tokens that the coordinator had made.
        #expect(try farm.gateway.counter("tokens_verified") - verified == 3)
        #expect(farm.mintedTokens == 3)
        // A second `doctor` does not send a refused provider token again, but still reports the refusal.
        let second = try await report(farm, status: 1)
        #expect(second.live("team")?.text.contains("already") == true, "\(second)")
        #expect(try farm.gateway.ledger().lines.count == requests + 2)
        #expect(try farm.gateway.counter("tokens_verified") - verified == 3)
    }

    @Test func `doctor names a wrong environment when the gateway's response names it`() async throws {
        let farm = try await Farm(
            Farm.Options(simulatorOptions: ["--key-environment", "SIMULATOR1:sandbox"]))
        _ = try await farm.ready()
        let finding = try #require(try await report(farm, "--live", status: 1).live("demo"))
        #expect(finding.grade == "failed" && finding.text.contains("not valid in environment production"))
        #expect(finding.text.contains("BadEnvironmentKeyIdInToken"), "\(finding)")
    }
}
