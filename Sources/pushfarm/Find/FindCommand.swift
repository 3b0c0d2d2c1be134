import ArgumentParser
import EventLoop
import PushModel

struct FindCommand: FarmCommand {
    static let configuration = CommandConfiguration(
        commandName: "find",
        abstract: "Finds a push and shows its history.",
        discussion: """
            Searches by device token, apns-id or job. For each push, the command shows the
            state: in the inbox, queued, in flight (with its worker), delayed (with the due
            time), paused, a dead letter, or suppressed. The command also shows pauses of
            the push's token and shard, and the push's events. If the app's configuration
            has the key "audit", the command also shows each outcome of the last hours.

            Example:
              pushfarm find --token $TOKEN --app demo
              pushfarm find --apns-id 5f0c1a0e-1b1d-8c2a-9f3b-0123456789ab
              pushfarm find --job order-4711

            The exit status is 1 when nothing is found.
            """)

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions

    @Option(
        help: ArgumentHelp("A device token, as hex.", valueName: "hex"),
        transform: { try DeviceToken.bytes(of: $0) })
    var token: [UInt8]?

    @Option(reads: ArgumentHelp("The apns-id of a push.", valueName: "id"))
    var apnsID: PushID?

    @Option(help: ArgumentHelp("The id of a job.", valueName: "id"))
    var job: String?

    @Option(help: ArgumentHelp("Only this app's pushes.", valueName: "name"), completion: .apps)
    var app: String?

    @Option(
        reads: ArgumentHelp(
            "The number of latest events to search; 0 searches no events.", valueName: "count"))
    var events = 100_000

    func validate() throws {
        guard [token != nil, apnsID != nil, job != nil].count(where: \.self) == 1 else {
            throw ValidationError("Give exactly one of --token, --apns-id and --job.")
        }
        guard (0...1_000_000).contains(events) else {
            throw ValidationError("--events must be from 0 to 1000000.")
        }
    }

    func run(_ client: FarmClient, _ console: Console) async throws {
        if let job { try await findJob(job, client, console) }
        if let token { try await findPush(.token(token), client, console) }
        if let apnsID { try await findPush(.push(apnsID), client, console) }
    }

    @Loop private func findJob(_ job: String, _ client: FarmClient, _ console: Console) async throws {
        var found: [JobSearch.Outcome] = []
        for name in try await client.apps(selectedBy: app) {
            found.append(try await JobSearch(client: client, app: name, job: job, events: events).run())
        }
        found.removeAll { !$0.isKnown }
        guard !found.isEmpty else { throw CommandFailure.failed("no job \(job) was found") }
        for outcome in found { console.show(outcome.json(job), outcome.text(job, console)) }
    }

    @Loop private func findPush(_ wanted: SearchTarget, _ client: FarmClient, _ console: Console) async throws
    {
        let shards = try await client.shards()
        var found: [PushFinding] = []
        for name in try await client.apps(selectedBy: app) {
            found += try await PushSearch(client, app: name, wanted: wanted, shards: shards).run()
            found += try await PushHistory(
                client, app: name, wanted: wanted, shards: shards, events: events
            ).run()
        }
        console.show(.object(["findings": .array(found.map(\.json))]), Self.text(found, console.style))
        if found.isEmpty { throw CommandFailure.failed() }
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

extension PushID: OptionValue {
    init(reading text: String) throws(OptionFault) {
        guard let id = PushID(text: text) else { throw OptionFault("an apns-id is a UUID") }
        self = id
    }
}
