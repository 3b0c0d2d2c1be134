import FarmHarness
import Foundation
import Testing

@testable import FarmConfiguration

/// Checks the configuration files that users copy.
struct SampleFileTests {
    private static let folder = Repository.root.appendingPathComponent("deploy")

    private func sample() throws -> String {
        try String(contentsOf: Self.folder.appendingPathComponent("pushfarm.yaml"), encoding: .utf8)
    }

    @Test func `the sample is read without changes`() throws {
        let farm = try read(try sample())
        #expect(farm.apps.map(\.name) == ["demo"])
    }

    @Test func `the farm of the Procfile pushes to a simulator only`() throws {
        let text = try String(
            contentsOf: Self.folder.appendingPathComponent("simulated.yaml"), encoding: .utf8)
        let farm = try read(text)
        #expect(!farm.apps.isEmpty && farm.apps.allSatisfy { $0.gateway.host == "127.0.0.1" })
        #expect(farm.privateRedisSocket == "/srv/etc/../var/redis.sock")
        #expect(farm.redis == RedisLocation(.unix("/srv/etc/../var/redis.sock")))
    }

    @Test func `the sample shows exactly the existing keys`() throws {
        let app = Schema.appPaths.map { ["apps", "demo"] + $0.parts }
        let known = Set(Schema.paths.map(\.parts) + app)
        let shown = keys(of: try sample())
        #expect(known.subtracting(shown) == [], "not in the sample")
        #expect(shown.subtracting(known) == [], "no such key")
    }

    /// The key paths of all scalar values, including values that are commented out.
    private func keys(of text: String) -> Set<[String]> {
        var found: Set<[String]> = []
        var groups: [(column: Int, key: String)] = []
        for line in text.split(separator: "\n") {
            let shown = line.replacing(#/^(\s*)[#] /#) { "\($0.1)" }
            guard let match = shown.prefixMatch(of: #/(\s*)([a-z_]+):(?:\s+(.*)|$)/#) else { continue }
            let (column, key, value) = (match.1.count, String(match.2), match.3 ?? "")
            groups.removeAll { $0.column >= column }
            let path = groups.map(\.key) + [key]
            if value.isEmpty || value.hasPrefix("#") {
                groups.append((column, key))
            } else if value.hasPrefix("{") {
                for field in value.prefix(while: { $0 != "}" }).matches(of: #/[{,]\s*([a-z_]+):/#) {
                    found.insert(path + [String(field.1)])
                }
            } else {
                found.insert(path)
            }
        }
        return found
    }

    @Test func `the sample shows the real defaults`() throws {
        let text = try sample()
        let plain = try read(text)
        let hidden = try Regex(
            #"^(\s*)# (\s*(?:state_dir|workers|shards|job_records_kept|job_record_hours|log|level|format|gateway|request_timeout|max_retry_after|max_job_bytes|max_tokens|max_backlog|max_inbox|suppression|min_conns|max_conns|scale|min_sustain|poll_interval|settle_period|dial_timeout|min_dial_back_off|max_dial_back_off|dial_back_off_jitter|keep_alive):.*)$"#
        )
        .anchorsMatchLineEndings()
        let shown = text.replacing(hidden) { "\($0[1].substring!)\($0[2].substring!)" }
        #expect(shown.matches(of: hidden).isEmpty && text.matches(of: hidden).count == 27)
        #expect(try read(shown) == plain)
    }
}
