import RESP
import Testing

@testable import FarmStore

/// Reliability plan, layer A: what every script promises, whatever it does.
@Suite struct ScriptContractTests {
    private enum Kind {
        /// Lets out what was accepted, or keeps the farm together.
        case drains
        case reads

        var shebang: String {
            switch self {
            case .drains: "#!lua flags=allow-oom"
            case .reads: "#!lua flags=no-writes,allow-oom"
            }
        }
    }

    /// A new script has no kind, and this does not compile.
    private static func kind(of script: Script) -> Kind {
        switch script {
        case .lease, .take, .refuse, .blame, .split, .checkout, .report, .putback, .settle, .promote,
            .reclaim,
            .release, .gate, .group, .mend, .swap, .beat:
            .drains
        case .accused, .depths, .audit: .reads
        }
    }

    private static func head(of script: Script) -> [Substring] {
        String(decoding: script.text, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
    }

    @Test(arguments: Script.allCases) func `says when it may run, and says it to Redis`(script: Script) {
        #expect(Self.head(of: script)[0] == Self.kind(of: script).shebang)
    }

    @Test(arguments: Script.allCases) func `its contract is whole`(script: Script) {
        let file = String(decoding: ScriptVariant.file(of: script), as: UTF8.self)
        let lines = file.split(separator: "\n").filter { $0.hasPrefix("--") }
        for word in ["KEYS", "Reply"] {
            #expect(lines.contains { $0.hasPrefix("-- " + word) }, "\(script) does not say: \(word)")
        }
        #expect(lines.contains { $0.contains("Again ") }, "\(script) does not say what running it again does")
        if Self.kind(of: script) != .reads {
            #expect(lines.contains { $0.contains("OOM") }, "\(script) does not say whether it runs at OOM")
        }
    }

    @Test
    func `a full memory refuses what producers call, before any effect, and lets the farm's scripts run`()
        throws
    {
        let desk = try Desk()
        try desk.split([("j1", 5)])
        var hashes: [Script: [UInt8]] = [:]
        for script in Script.allCases { hashes[script] = try desk.redis.hash(script) }
        try desk.redis.run("CONFIG", "SET", "maxmemory", "1")
        #expect(try desk.redis.run("RPUSH", "pushfarm:demo", "job").error?.code == "OOM")
        for script in Script.allCases {
            // Without arguments: whether it may begin is asked first.
            var command = RESPCommand("EVALSHA")
            command.append(hashes[script]!)
            command.append(2)
            command.append(Array("{pushfarm:demo}:".utf8))
            command.append(Array("pushfarm:demo".utf8))
            #expect(try desk.redis.run(command).error?.code != "OOM", "\(script)")
        }
    }
}
