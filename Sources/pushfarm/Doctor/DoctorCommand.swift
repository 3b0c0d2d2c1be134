import ArgumentParser
import EventLoop
import FarmConfiguration
import RedisClient

struct DoctorCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Checks configuration, Redis, credentials and gateways.",
        discussion: """
            Opens a TLS connection to each gateway. With --live, the command also sends
            each gateway one push to a device token that cannot exist. A simulator on this
            machine gets this push also without --live. The gateway's response to the push
            shows a wrong team, key id or topic. The response shows a wrong environment
            only if the gateway's reason names the environment. The command reads the
            feedback service of a binary gateway once.

            The exit status is 1 when a check failed, and 75 when Redis or a gateway could
            not be reached.

            Example:
              pushfarm doctor --config /etc/pushfarm/pushfarm.yaml
              pushfarm doctor --live
            """)

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions

    @Flag(help: "Sends each gateway one push to a device token that cannot exist.")
    var live = false

    func run() throws {
        let configuration = try common.load(purpose: .coordinator)
        let findings = try Loop.run { @Loop in await examine(configuration) }
        let console = Console(json: common.json)
        let isGood = findings.allSatisfy { $0.grade == .ok || $0.grade == .warning }
        console.show(
            .object(["ok": .bool(isGood), "checks": .array(findings.map(\.json))]),
            Self.text(findings, console.style))
        guard !isGood else { return }
        throw findings.contains { $0.grade == .failed } ? CommandFailure.failed() : .temporary("")
    }

    @Loop private func examine(_ configuration: Configuration) async -> [Finding] {
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
        var client: FarmClient?
        defer { client?.close() }
        do {
            let connected = try await FarmClient.connect(configuration)
            client = connected
            findings += try await RedisCheck(client: connected).findings()
        } catch {
            client?.close()
            client = nil
            findings.append(
                Finding(
                    "redis", error.status == .temporary ? .unreachable : .failed, error.message,
                    advice: "Is Redis running there? Name it with redis: in the configuration, or --redis."))
        }
        for app in configuration.apps {
            let (credentials, identity) = CredentialCheck(app: app, now: WallClock.seconds).findings()
            findings += credentials
            let check = GatewayCheck(
                app: app, identity: identity, farmRedis: client.map { FarmRedis(connection: $0.redis) },
                isLive: live)
            findings += await check.findings()
            let feedback = await FeedbackCheck(app: app, configuration: configuration).finding()
            if let feedback { findings.append(feedback) }
        }
        return findings
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

/// The result of one check.
struct Finding: Sendable {
    enum Severity: String, Sendable {
        case ok, warning, failed
        /// The target cannot be reached now. A second try may help.
        case unreachable
    }

    let check: String
    let grade: Severity
    let text: String
    /// The advice to the user.
    let advice: String?

    init(_ check: String, _ grade: Severity, _ text: String, advice: String? = nil) {
        (self.check, self.grade, self.text, self.advice) = (check, grade, text, advice)
    }

    /// A finding with `grade` and `advice` if `isWrong`, else with the grade `ok`.
    init(_ check: String, _ grade: Severity, when isWrong: Bool, _ text: String, advice: String) {
        self.init(check, isWrong ? grade : .ok, text, advice: isWrong ? advice : nil)
    }

    var json: JSONValue {
        .object([
            "check": .string(check), "grade": .string(grade.rawValue), "text": .string(text),
            "advice": .text(advice),
        ])
    }
}
