import PushModel
import Testing

@testable import pushfarm

/// The audit log shows commands as operators typed them.
struct TypedCommandTests {
    private static func typed(
        _ verb: String, _ arguments: [String], host: String? = nil, isDryRun: Bool = false
    ) -> String {
        OperatorCommand(
            id: "1", issuer: "a@b", host: host, verb: verb, arguments: arguments, isDryRun: isDryRun
        ).typed
    }

    @Test(
        arguments: [
            ("refresh", ["shards", "move", "7", "beta"], nil, "shards move 7 beta"),
            ("refresh", ["pause", "demo", "--shard", "7"], nil, "pause demo --shard 7"),
            ("scale", ["+1"], "alpha", "scale +1 alpha"), ("scale", ["auto"], nil, "scale auto all"),
            ("restart", ["1"], "alpha", "restart alpha/1"),
            ("restart", ["--rolling"], nil, "restart all --rolling"),
            ("stop", ["--and-exit"], "alpha", "drain alpha --and-exit"),
            ("stop", ["1"], "alpha", "stop alpha/1"),
            (
                "takeover", ["demo", "7", "--force"], "beta",
                "debug takeover 7 --app demo --host beta --force"
            ),
            ("log-level", ["debug"], "alpha", "debug log-level debug alpha"),
            ("kill", ["0", "--abrt"], "alpha", "debug kill alpha/0 --abrt"),
            ("replay", ["--job", "order-1"], nil, "replay --job order-1"),
            ("dead", ["drop", "--all"], nil, "dead drop --all"),
        ] as [(String, [String], String?, String)])
    func `a command is shown as it was typed`(
        verb: String, arguments: [String], host: String?, text: String
    ) {
        #expect(Self.typed(verb, arguments, host: host) == text)
        #expect(Self.typed(verb, arguments, host: host, isDryRun: true) == text + " --dry-run")
    }
}
