import ArgumentParser
import EventLoop
import StoreProtocol

struct GateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "gate",
        abstract: "Closes or opens an app to producers.",
        discussion: """
            A closed app answers BUSY to producers that ask (pushfarm_submit); what is in
            the inbox is taken, and what is accepted is delivered. An open one answers OK
            as long as Redis has memory at all, however full it is. auto is the farm's own
            judgement. It stays so, through restarts, until it is changed.

            Example:
              pushfarm gate close demo
              pushfarm gate open demo
              pushfarm gate auto demo
            """)

    enum Act: String, ExpressibleByArgument, CaseIterable, Sendable {
        case open, close, auto

        var admission: SetAdmission.Admission? {
            switch self {
            case .open: .open
            case .close: .closed
            case .auto: nil
            }
        }
    }

    @OptionGroup var common: CommonOptions

    @Argument(help: "open, close or auto.")
    var act: Act

    @Argument(help: "The app, or all.", completion: .apps)
    var app: String

    @Flag(help: "Says what would be done, and changes nothing.")
    var dryRun = false

    func run() throws {
        let (configuration, name, act, dryRun) = (try common.load(), app, act, dryRun)
        try ChangeReport.make("gate", isDryRun: dryRun, configuration, Console(json: common.json)) {
            report, client in
            if name != "all" { try await client.mustHave(app: name) }
            for app in try await name == "all" ? client.apps() : [name] {
                var changed = try await client.call(ReadStanding(), app).admission != act.admission
                if !dryRun {
                    changed = try await client.call(
                        SetAdmission(act.admission, by: OperatorName.current), app)
                }
                report.lines.append(Self.line(app, act, changed))
            }
            // Redis itself obeys it.
            return nil
        }
    }

    private static func line(_ app: String, _ act: Act, _ changed: Bool) -> ChangeReport.Line {
        let state =
            switch act {
            case .open: "open to producers"
            case .close: "closed to producers"
            case .auto: "open to producers as there is room"
            }
        return .init(
            app: app, changed: changed, text: changed ? "is \(state)" : "was \(state) already",
            more: [.init(name: "gate", value: .string(act.admission?.rawValue ?? "auto"))])
    }
}
