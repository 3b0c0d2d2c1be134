import ArgumentParser
import EventLoop
import StoreProtocol

struct JobCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "job",
        abstract: "Shows the record of one job.",
        discussion: """
            Example:
              pushfarm job order-4711 --wait --json

            Of an open job it says why pushes wait: a pause, their time, or a retry
            and its cause. Status 1 when there is no such job, or when it is finished
            and not all of it was delivered.
            """)

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions

    @OptionGroup var choice: JobChoice

    @Flag(
        name: [.long, .customLong("watch")],
        help: "Waits until the job is finished; a terminal shows how far it is.")
    var wait = false

    func run() throws {
        let configuration = try common.load()
        let console = Console(json: common.json)
        let (id, app, wait) = (choice.job, choice.app, wait)
        let (accounts, delays) = try Loop.run { @Loop () async throws -> ([Account], [String: [String]]) in
            let client = try await FarmClient.connect(configuration)
            defer { client.close() }
            let apps = if let app { [app] } else { try await client.apps() }
            let found = try await client.accounts(ofJob: id, in: apps)
            guard let first = found.first else {
                if let app, wait {
                    return (try await JobRecordPoller(client: client, console: console).wait([id], app), [:])
                }
                throw try await client.noJob(id, in: apps)
            }
            guard found.count == 1 else { throw CommandFailure.several(found) }
            guard wait, first.state == .open else {
                return (found, [first.app: try await client.delays(of: first)])
            }
            return (try await JobRecordPoller(client: client, console: console).wait([id], first.app), [:])
        }
        try AccountReport(accounts: accounts, console: console, delays: delays).show()
    }
}
