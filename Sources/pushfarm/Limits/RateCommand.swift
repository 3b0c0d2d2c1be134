import ArgumentParser
import EventLoop
import StoreProtocol

struct RateCommand: FarmCommand {
    static let configuration = CommandConfiguration(
        commandName: "rate",
        abstract: "Changes the rate limit of an app for the whole farm.",
        discussion: """
            The limit is for all workers of all hosts together. The limit survives restarts
            and overrides the setting "budget.max_rate" of the configuration, until an
            operator sets the limit to "default". The limit "off" allows any rate. Without
            a rate, the command shows the current limit.

            Example:
              pushfarm rate demo 500/s
              pushfarm rate demo 6000/m
              pushfarm rate demo off
              pushfarm rate demo default
            """)

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions

    @Argument(help: "The app.", completion: .apps)
    var app: String

    @Argument(
        help: ArgumentHelp(
            "A number per second, minute or hour, such as 500/s, 6000/m or 100/h; or \"off\", or \"default\".",
            valueName: "rate"))
    var rate: String?

    @Flag(help: "Shows what the command would do, and changes nothing.")
    var dryRun = false

    func validate() throws { _ = try desired() }

    /// The wanted rate limit, or nil when the command only shows the limit.
    private func desired() throws -> DesiredRate?? {
        guard let rate else { return .none }
        switch rate {
        case "default": return .some(nil)
        case "off": return .some(.off)
        default:
            let parts = rate.split(separator: "/", omittingEmptySubsequences: false)
            let unit = parts.count == 2 ? ["s": 1.0, "m": 60.0, "h": 3600.0][String(parts[1])] : nil
            guard let unit, let number = Double(parts[0]), DesiredRate.rates.contains(number / unit)
            else {
                throw ValidationError(
                    "A rate is 500/s, 6000/m or 100/h, for example, at least 0.0036/h; or off; or default.")
            }
            return .some(.limit(number / unit))
        }
    }

    func run(_ client: FarmClient, _ console: Console) async throws {
        let desired = try desired()
        try await client.mustHave(app: app)
        var appState = try await client.call(ReadAppState(), app)
        var outcome: OperatorClient.Outcome?
        let changed = desired.map { $0 != appState.rate } ?? false
        if changed, let desired, !dryRun {
            _ = try await client.call(SetRate(desired, by: OperatorName.current), app)
            outcome = try await OperatorClient.refreshHosts(
                ["rate", app, desired?.text ?? "default"], client, console)
            appState = try await client.call(ReadAppState(), app)
        }
        let configured = client.configuration.app(named: app)?.budget.maxRate
        var text = Self.words(appState.rate, configured)
        if appState.rate != nil { text += ", by \(appState.rateBy ?? "an operator")" }
        let wanted = Self.words(desired ?? nil, configured)
        console.show(
            .object([
                "app": .string(app), "rate": .text(appState.rate?.text), "by": .text(appState.rateBy),
                "changed": .bool(changed), "dry_run": .bool(dryRun),
                "hosts": outcome?.hostsJSON ?? .array([]),
                "silent": .strings(outcome?.silent ?? []),
            ]),
            dryRun && changed ? "\(app): would go from \(text) to \(wanted)\n" : "\(app): \(text)\n")
        try outcome?.requireReplies()
    }

    private static func words(_ desired: DesiredRate?, _ configured: Double?) -> String {
        switch desired {
        case nil:
            configured.map { "\(Figures.perTime($0)) (budget.max_rate)" }
                ?? "as configured: no limit of the farm's"
        case .off: "no limit of the farm's"
        case .limit(let rate): Figures.perTime(rate)
        }
    }
}
