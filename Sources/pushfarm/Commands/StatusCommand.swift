import ArgumentParser
import EventLoop

struct StatusCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Shows hosts, workers, apps and Redis.",
        discussion: """
            Open counts pushes without an outcome, inbox jobs; ready, in flight and delayed
            count batches of up to 256 pushes. Status 1 when something is not as it should
            be: a probe.

            Example:
              pushfarm status --json
            """)

    @OptionGroup var common: CommonOptions

    func run() throws {
        let configuration = try common.load()
        let status = try Loop.run { @Loop in
            let client = try await FarmClient.connect(configuration)
            defer { client.close() }
            return try await FarmStatus.read(from: client)
        }
        let console = Console(json: common.json)
        console.show(status.json, StatusText(status: status, colours: console.colours).text)
        if !status.troubles.isEmpty { throw CommandFailure.failed() }
    }
}
