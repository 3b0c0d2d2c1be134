import ArgumentParser
import EventLoop
import PushModel
import RedisClient
import Registry
import StoreProtocol

struct DevicesPruneCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "prune",
        abstract: "Removes devices that have not registered for a long time.",
        discussion: """
            A device that registers while the command runs is not removed.

            Example:
              pushfarm devices prune --unseen 270d --app demo --dry-run
              pushfarm devices prune --unseen 270d --app demo

            Status 75 when the command must be run again.
            """)

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions
    @OptionGroup var choice: DeviceAppOptions

    @Option(
        reads: ArgumentHelp(
            "Removes devices that registered last before this time, in whole days.", valueName: "duration"))
    var unseen: DurationOption

    @Option(reads: ArgumentHelp("How long to wait for the farm.", valueName: "duration"))
    var timeout = DurationOption(seconds: 600)

    @Flag(help: "Counts the devices, and changes nothing.")
    var dryRun = false

    private static let secondsOfDay: Int64 = 86_400
    private static let longest = 36_500 * secondsOfDay

    func validate() throws {
        try unseen.check("--unseen", Double(Self.secondsOfDay)...Double(Self.longest))
        try timeout.check("--timeout", 1...86_400)
    }

    func run() throws {
        let configuration = try common.load()
        try Loop.run { @Loop in
            let end = EndSignal()
            let client = try await FarmClient.connect(configuration)
            defer { client.close() }
            try await prune(client, until: end)
        }
    }

    @Loop private func prune(_ client: FarmClient, until end: EndSignal) async throws {
        let app = try await client.chosenApp(choice.app)
        let reader = try await client.registry(of: app)
        let last = try await client.today() - Int(unseen.duration.components.seconds / Self.secondsOfDay)
        let partitions = try await client.read { () throws(StoreError) in try await reader.partitions() }
        let all = partitions.reduce(0) { $0 + $1.devices }
        var progress = ProgressLine(dryRun ? "counting" : "pruning", total: all, quiet: common.json)
        defer { progress.finish() }
        var pusher = DeviceInputPusher(client: client, app: app, timeout: timeout.duration)
        var (read, found, unreadable) = (0, 0, 0)
        var scan = DeviceScan(reader, partitions)
        while let page = try await next(&scan, client) {
            let old = page.devices.filter { $0.record.lastSeenDay < last }
            read += page.devices.count
            found += old.count
            unreadable += page.unreadable.count
            if !dryRun { try await pusher.push(old.map { Self.input($0.record) }) { end.isGiven } }
            progress.update(read, note: "\(Figures.grouped(found)) unseen")
            if end.isGiven { throw DeviceInputPusher.interrupted }
        }
        progress.finish()
        Console(json: common.json).show(
            .object([
                "app": .string(app), "devices": .number(read), "pruned": .number(found),
                "unreadable": .number(unreadable), "dry_run": .bool(dryRun),
            ]),
            "\(Figures.counted(found, "device", "devices")) of \(Figures.grouped(read)) "
                + (dryRun ? "would be removed" : "will be removed") + "\n")
        guard unreadable == 0 else {
            throw CommandFailure(
                status: .partly,
                message: Figures.counted(unreadable, "record", "records") + " cannot be read")
        }
    }

    /// Removes the device unless it has registered after the day of its record.
    private static func input(_ record: DeviceRecord) -> [UInt8] {
        var json = JSONText(capacity: 64)
        json.object { json in
            json.member("id", record.id)
            json.member("remove", true)
            json.member("seen", record.seenDate)
        }
        return json.bytes
    }

    @Loop private func next(
        _ scan: inout DeviceScan, _ client: FarmClient
    ) async throws(CommandFailure) -> DevicePage? {
        do { return try await scan.next() } catch { throw client.failure(error) }
    }
}
