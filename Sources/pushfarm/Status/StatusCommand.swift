import ArgumentParser
import EventLoop

struct StatusCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Shows hosts, workers, apps and Redis.",
        discussion: """
            OPEN counts pushes without an outcome, DEAD pushes kept as dead letters, INBOX
            jobs that are not split yet and JOBS open jobs. READY and DELAYED count batches
            of up to 256 pushes, as do ready, in_flight and delayed in JSON. Status 1 when
            there is trouble, so it can be a probe.

            Example:
              pushfarm status --json
            """)

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions

    func run() throws {
        let status = try common.withClient { client in
            return try await FarmStatus.read(from: client)
        }
        let console = Console(json: common.json)
        console.show(status.json, StatusText(status: status, style: console.style).text)
        if !status.troubles.isEmpty { throw CommandFailure.failed() }
    }
}
