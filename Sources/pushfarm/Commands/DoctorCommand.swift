import ArgumentParser
import EventLoop
import FarmConfiguration
import FarmStore

struct DoctorCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Checks configuration, Redis, credentials, gateways and limits, and says what to do.",
        discussion: """
            Nothing is sent to a gateway but a TLS handshake. Status 1 when a check
            failed, 75 when something could not be reached.

            Example:
              pushfarm doctor --config /etc/pushfarm/pushfarm.yaml
            """)

    @OptionGroup var common: CommonOptions

    func run() throws {
        let configuration = try common.load(purpose: .coordinator)
        let findings = try Loop.run { @Loop in await Self.examine(configuration) }
        let console = Console(json: common.json)
        let isGood = findings.allSatisfy { $0.grade == .ok || $0.grade == .warning }
        console.show(
            .object(["ok": .bool(isGood), "checks": .array(findings.map(\.json))]),
            Self.text(findings, console))
        guard !isGood else { return }
        throw findings.contains { $0.grade == .failed } ? CommandFailure.failed() : .temporary("")
    }

    @Loop private static func examine(_ configuration: FarmConfiguration) async -> [Finding] {
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
        findings += await redis(configuration)
        for app in configuration.apps {
            let (credentials, identity) = CredentialCheck(app: app, now: WallClock.seconds).findings()
            findings += credentials
            findings.append(await GatewayCheck(app: app, identity: identity).finding())
        }
        return findings
    }

    @Loop private static func redis(_ configuration: FarmConfiguration) async -> [Finding] {
        do {
            let client = try await FarmClient.connect(configuration)
            defer { client.close() }
            let info = try await client.ask { registry throws(RedisError) in try await registry.info() }
            let skew = try await client.clock()
            let check = RedisCheck(
                info: info, place: client.place, skew: skew - .milliseconds(WallClock.milliseconds))
            let access = RedisAccessCheck(location: client.location)
            return try await check.findings + [access.finding] + PressureCheck(client: client).findings()
                + InboxCheck(client: client).findings()
        } catch {
            return [
                Finding(
                    "redis", error.status == .temporary ? .unreachable : .failed, error.message,
                    advice: "Is Redis running there? Name it with redis: in the configuration, or --redis.")
            ]
        }
    }

    private static func text(_ findings: [Finding], _ console: Console) -> String {
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
        return table.text(colours: console.colours)
    }
}
