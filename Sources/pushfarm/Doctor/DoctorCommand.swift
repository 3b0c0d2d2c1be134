import ArgumentParser
import EventLoop
import FarmConfiguration
import RedisClient
import StoreProtocol

struct DoctorCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Checks configuration, Redis, credentials and gateways.",
        discussion: """
            Nothing is sent to a gateway but a TLS handshake. With --live, and always to a
            simulator on this machine, one push goes to a device token that cannot exist:
            the response shows a wrong team, key id or topic. The environment shows only
            when the gateway's reason names it. The feedback service of a binary gateway
            is read once. Status 1 when a check failed, 75 when something could not be
            reached.

            Example:
              pushfarm doctor --config /etc/pushfarm/pushfarm.yaml
              pushfarm doctor --live
            """)

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions

    @Flag(help: "Send each gateway one push to a device token that cannot exist.")
    var live = false

    func run() throws {
        let configuration = try common.load(purpose: .coordinator)
        let isLive = live
        let findings = try Loop.run { @Loop in await Self.examine(configuration, isLive: isLive) }
        let console = Console(json: common.json)
        let isGood = findings.allSatisfy { $0.grade == .ok || $0.grade == .warning }
        console.show(
            .object(["ok": .bool(isGood), "checks": .array(findings.map(\.json))]),
            Self.text(findings, console.style))
        guard !isGood else { return }
        throw findings.contains { $0.grade == .failed } ? CommandFailure.failed() : .temporary("")
    }

    @Loop private static func examine(
        _ configuration: Configuration, isLive: Bool
    ) async -> [Finding] {
        var findings = [
            Finding("configuration", .ok, configuration.file ?? "no file: defaults, environment and flags")
        ]
        if configuration.apps.isEmpty {
            findings.append(
                Finding(
                    "configuration", .failed, "no app is configured",
                    advice: "Add one under apps: in the file."))
        }
        findings += MachineCheck(configuration: configuration).findings
        let (redis, client) = await redis(configuration)
        defer { client?.close() }
        findings += redis
        for app in configuration.apps {
            let (credentials, identity) = CredentialCheck(app: app, now: WallClock.seconds).findings()
            findings += credentials
            let check = GatewayCheck(
                app: app, identity: identity, registry: client.map { FarmRegistry(connection: $0.redis) },
                isLive: isLive)
            findings += await check.findings()
            let feedback = await FeedbackCheck(app: app, configuration: configuration).finding()
            if let feedback { findings.append(feedback) }
        }
        return findings
    }

    /// Also gives the connection, open, when there is one.
    @Loop private static func redis(
        _ configuration: Configuration
    ) async -> (findings: [Finding], client: FarmClient?) {
        var open: FarmClient?
        do {
            let client = try await FarmClient.connect(configuration)
            open = client
            let info = try await client.ask { registry throws(RedisError) in try await registry.info() }
            let skew = try await client.clock()
            let check = RedisCheck(
                info: info, place: client.place, skew: skew - .milliseconds(WallClock.milliseconds))
            let access = RedisAccessCheck(location: client.location)
            let findings =
                try await check.findings + [access.finding] + PressureCheck(client: client).findings()
                + InboxCheck(client: client).findings()
            return (findings, client)
        } catch {
            open?.close()
            let finding = Finding(
                "redis", error.status == .temporary ? .unreachable : .failed, error.message,
                advice: "Is Redis running there? Name it with redis: in the configuration, or --redis.")
            return ([finding], nil)
        }
    }

    static func text(_ findings: [Finding], _ style: TextStyle) -> String {
        var table = Table(["": .left, "": .left, "": .left])
        for finding in findings {
            let mark: Table.Cell =
                switch finding.grade {
                case .ok: .init("ok", .green)
                case .warning: .init("warning", .yellow)
                case .failed: .init("failed", .red)
                case .unreachable: .init("unreachable", .red)
                }
            table.add(mark, .init(finding.check), .init(finding.text))
            if let advice = finding.advice { table.add("", "", .init("→ " + advice, .dim)) }
        }
        return table.text(style)
    }
}
