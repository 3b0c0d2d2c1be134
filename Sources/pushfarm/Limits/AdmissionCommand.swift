import ArgumentParser
import EventLoop
import StoreProtocol

struct AdmissionCommand: ParsableCommand, Sendable {
    static let configuration = CommandConfiguration(
        commandName: "admission",
        abstract: "Accepts or rejects the jobs of producers.",
        discussion: """
            Producers submit jobs with the Redis function "pushfarm_submit". After "close",
            this function replies BUSY, and the farm still takes the jobs in the inbox and
            delivers accepted pushes. After "open", the function replies OK as long as
            Redis has memory. After "auto", the farm decides by its limits. The setting
            survives restarts.

            Example:
              pushfarm admission close demo
              pushfarm admission open demo
              pushfarm admission auto demo
            """)

    enum Action: String, ExpressibleByArgument, CaseIterable, Sendable {
        case open, close, auto

        var admission: SetAdmission.Admission? {
            switch self {
            case .open: .open
            case .close: .closed
            case .auto: nil
            }
        }
    }

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions

    @Argument(help: "The setting: open, close or auto.")
    var act: Action

    @Argument(help: "The app, or \"all\" for all apps.", completion: .apps)
    var app: String

    @Flag(help: "Shows what the command would do, and changes nothing.")
    var dryRun = false

    func run() throws {
        try ChangeReport.make("admission", isDryRun: dryRun, try common.load(), Console(json: common.json)) {
            report, client in
            for app in try await client.apps(selectedBy: app == "all" ? nil : app) {
                var changed = try await client.call(ReadAppState(), app).admission != act.admission
                if !dryRun {
                    changed = try await client.call(
                        SetAdmission(act.admission, by: OperatorName.current), app)
                }
                report.lines.append(line(app, changed))
            }
            return [act.rawValue, app]
        }
    }

    private func line(_ app: String, _ changed: Bool) -> ChangeReport.Line {
        let state =
            switch act {
            case .open: "open to producers"
            case .close: "closed to producers"
            case .auto: "open to producers as there is room"
            }
        return .init(
            target: .app(app), changed: changed, text: changed ? "is \(state)" : "was \(state) already",
            more: [.init(name: "admission", value: .string(act.admission?.rawValue ?? "auto"))])
    }
}
