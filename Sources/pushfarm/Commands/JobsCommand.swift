import ArgumentParser
import EventLoop
import FarmLogging
import FarmStore

struct JobsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "jobs",
        abstract: "Lists the latest jobs.",
        discussion: """
            Example:
              pushfarm jobs --app demo --limit 20
              pushfarm jobs --open --json
            """)

    @OptionGroup var common: CommonOptions

    @Option(help: ArgumentHelp("Only this app's jobs.", valueName: "name"))
    var app: String?

    @Option(help: ArgumentHelp("Jobs of each app, at most.", valueName: "n"))
    var limit = 20

    @Flag(help: "Only jobs that are not finished.")
    var open = false

    func validate() throws {
        guard (1...10_000).contains(limit) else { throw ValidationError("--limit is 1 to 10000.") }
    }

    func run() throws {
        let configuration = try common.load()
        let (app, limit, open) = (app, limit, open)
        let accounts = try Loop.run { @Loop in
            let client = try await FarmClient.connect(configuration)
            defer { client.close() }
            var accounts: [Account] = []
            for name in try await client.apps() where app == nil || app == name {
                for id in try await client.call(LatestJobs(count: limit), name) {
                    guard let account = try await client.account(id, name) else { continue }
                    if !open || account.state == .open { accounts.append(account) }
                }
            }
            return accounts.sorted { ($1.createdAt, $0.id) < ($0.createdAt, $1.id) }
        }
        let console = Console(json: common.json)
        console.show(.object(["jobs": .array(accounts.map(\.json))]), text(accounts, console))
    }

    private func text(_ accounts: [Account], _ console: Console) -> String {
        guard !accounts.isEmpty else { return "no jobs\n" }
        var table = Table([
            "JOB": .left, "APP": .left, "STATE": .left, "CREATED": .left, "ACCEPTED": .right,
            "DELIVERED": .right,
            "FAILED": .right, "EXPIRED": .right, "OPEN": .right,
        ])
        for account in accounts {
            table.add(
                .init(account.id), .init(account.app),
                account.parked == nil
                    ? .init(account.state.rawValue, account.state == .open ? .yellow : nil)
                    : .init("parked", .red),
                .init(Timestamp(milliseconds: account.createdAt).description),
                .init(Figures.grouped(account.accepted)), .init(Figures.grouped(account.delivered)),
                .init(Figures.grouped(account.failed), account.failed > 0 ? .red : nil),
                .init(Figures.grouped(account.expired)),
                .init(Figures.grouped(account.accepted - account.settled)))
        }
        return table.text(colours: console.colours)
    }
}
