import Foundation
import Testing

@testable import FarmConfiguration

/// The files that users copy.
struct SampleFileTests {
    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("deploy")

    private func sample() throws -> String {
        try String(contentsOf: Self.folder.appendingPathComponent("pushfarm.yaml"), encoding: .utf8)
    }

    @Test func `the sample is read as it stands`() throws {
        let farm = try read(try sample())
        #expect(farm.apps.map(\.name) == ["demo"])
    }

    @Test func `the Procfile's farm pushes to a simulator only`() throws {
        let text = try String(
            contentsOf: Self.folder.appendingPathComponent("simulated.yaml"), encoding: .utf8)
        let farm = try read(text)
        #expect(farm.apps.allSatisfy { $0.gateway.host == "127.0.0.1" })
        #expect(farm.privateRedisSocket == "/srv/etc/../var/redis.sock")
        #expect(farm.redis == RedisLocation(.unix("/srv/etc/../var/redis.sock")))
    }

    @Test func `a default that the sample shows is the default`() throws {
        let text = try sample()
        let plain = try read(text)
        let hidden = try Regex(
            #"^(\s*)# ((?:state_dir|workers|shards|accounts_kept|account_hours|log|gateway|request_timeout|max_job_bytes|max_tokens|max_backlog|max_inbox|suppression|min_conns|max_conns|scale|min_sustain|poll_interval|settle_period|dial_timeout|min_dial_back_off|max_dial_back_off|dial_back_off_jitter|keep_alive):.*)$"#
        )
        .anchorsMatchLineEndings()
        let shown = text.replacing(hidden) { "\($0[1].substring!)\($0[2].substring!)" }
        #expect(shown.matches(of: hidden).isEmpty && text.matches(of: hidden).count == 24)
        #expect(try read(shown) == plain)
    }
}
