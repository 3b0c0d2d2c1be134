import ArgumentParser
import PushModel

struct FindCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "find",
        abstract: "Finds a push and shows its history.",
        discussion: """
            Searches by device token, apns-id or job. Shows the state of the push: in the
            inbox, queued, in flight (with its worker), delayed (with the due time),
            paused, a dead letter, or suppressed. Shows pauses of its token and its shard.
            Shows its events and, with audit: in the configuration, each outcome of the
            last hours.

            Example:
              pushfarm find --token $TOKEN --app demo
              pushfarm find --apns-id 5f0c1a0e-1b1d-8c2a-9f3b-0123456789ab
              pushfarm find --job order-4711

            Status 1 when nothing is found.
            """)

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions

    @Option(help: ArgumentHelp("A device token, as hex.", valueName: "hex"))
    var token: String?

    @Option(help: ArgumentHelp("The apns-id of a push.", valueName: "id"))
    var apnsID: String?

    @Option(help: ArgumentHelp("The id of a job.", valueName: "id"))
    var job: String?

    @Option(help: ArgumentHelp("Only this app's pushes.", valueName: "name"), completion: .apps)
    var app: String?

    @Option(reads: ArgumentHelp("Number of latest events to search; 0: none.", valueName: "count"))
    var events = 100_000

    func validate() throws {
        guard [token, apnsID, job].count(where: { $0 != nil }) == 1 else {
            throw ValidationError("Name one of --token, --apns-id and --job.")
        }
        guard (0...1_000_000).contains(events) else { throw ValidationError("--events is 0 to 1000000.") }
    }

    func run() throws {
        if let job { try findJob(job) } else { try findPush(try wanted()) }
    }

    private func findJob(_ job: String) throws {
        let found = try common.withClient { client in
            var found: [JobSearch.Outcome] = []
            for name in try await client.apps(selectedBy: app) {
                found.append(try await JobSearch(client: client, app: name, job: job, events: events).run())
            }
            return found.filter(\.isKnown)
        }
        guard !found.isEmpty else { throw CommandFailure.failed("no job \(job) was found") }
        let console = Console(json: common.json)
        for outcome in found { console.show(outcome.json(job), outcome.text(job, console)) }
    }

    private func findPush(_ wanted: Wanted) throws {
        let found = try common.withClient { client in
            let shards = try await client.shards()
            var found: [PushFinding] = []
            for name in try await client.apps(selectedBy: app) {
                let search = PushSearch(client, app: name, wanted: wanted, shards: shards, events: events)
                found += try await search.run()
            }
            return found
        }
        let console = Console(json: common.json)
        console.show(.object(["findings": .array(found.map(\.json))]), Self.text(found, console.style))
        if found.isEmpty { throw CommandFailure.failed() }
    }

    private func wanted() throws(CommandFailure) -> Wanted {
        if let apnsID {
            guard let id = PushID(text: apnsID) else {
                throw .usage("\(apnsID.prefix(64)) is not an apns-id; use a UUID")
            }
            return .push(id)
        }
        let tokens = try TokenOptions.bytes(of: token.map { [$0] } ?? [])
        return .token(tokens.first ?? [])
    }

    private static let nothing = """
        no such push was found. Deliveries are recorded only for jobs with receipts "all" and for apps with audit:

        """

    static func text(_ found: [PushFinding], _ style: TextStyle) -> String {
        guard !found.isEmpty else { return nothing }
        var table = Table(["WHEN": .right, "APP": .left, "PLACE": .left, "JOB": .left, "DETAILS": .left])
        for finding in found.sorted(by: { $0.at ?? .max < $1.at ?? .max }) { finding.add(to: &table) }
        return table.text(style)
    }
}
