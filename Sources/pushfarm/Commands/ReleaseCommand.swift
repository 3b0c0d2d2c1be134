import ArgumentParser
import EventLoop
import StoreProtocol

struct ReleaseCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "release",
        abstract: "Resumes quarantined jobs, batches, shards and tokens.",
        discussion: """
            A job is parked when its pushes ended workers again and again, or by an
            operator (quarantine); a batch when it ended workers before anything was sent.
            Nothing of them is lost: they wait. With all, everything goes on, and shards
            that wait after crashes; what was paused goes on with resume.

            Example:
              pushfarm release order-4711
              pushfarm release all
              pushfarm release --app demo
              pushfarm release --shard 7 --app demo
              pushfarm release --token 00fc13adff785122b4ad2880 --app demo
            """)

    @OptionGroup var common: CommonOptions

    @Argument(
        help: ArgumentHelp("The job's id, or all for everything that is parked.", valueName: "job|all"))
    var name: String?

    @Option(help: ArgumentHelp("Only this app's.", valueName: "name"), completion: .apps)
    var app: String?

    @Option(reads: ArgumentHelp("Only this shard, of all apps or of the named one.", valueName: "n"))
    var shard: Int?

    @Option(help: ArgumentHelp("Only this device.", valueName: "hex"))
    var token: String?

    func validate() throws {
        let named = [name != nil, shard != nil, token != nil].count(where: { $0 })
        guard named == 1 || named == 0 && app != nil else {
            throw ValidationError("Name a job, --shard, --token or --app; or all.")
        }
        if let shard, !(0...9999).contains(shard) { throw ValidationError("--shard is a shard's number.") }
    }

    /// Nil: everything.
    private var job: String? { name == "all" ? nil : name }

    /// How much goes on.
    private struct Sum: Sendable {
        var jobs = 0
        var devices = 0
        var batches = 0
        var shards = 0
        var apps = 0

        var all: Int { jobs + devices + batches + shards + apps }
    }

    func run() throws {
        let (configuration, job, app, shard) = (try common.load(), job, app, shard)
        let token = try token.map { text throws(CommandFailure) in try OperatorText.token(text) }
        let sum = try Loop.run { @Loop in
            let client = try await FarmClient.connect(configuration)
            defer { client.close() }
            var sum = Sum()
            let names = try await client.apps(meant: app)
            for name in names {
                if let shard {
                    sum.shards += try await ShardHold(client: client).serve(name, shard).changed ? 1 : 0
                    continue
                }
                let what: Release.What = token.map { .device($0) } ?? job.map { .job($0) } ?? .all
                let released = try await client.release(what, name)
                sum.jobs += released.jobs
                sum.devices += released.devices
                sum.batches += released.batches
                if what == .all { try await Self.releaseRest(name, client, &sum) }
            }
            if let job, sum.all == 0 { try await client.mustKnow(job: job, in: names) }
            if job == nil, token == nil {
                _ = try await client.ask { registry throws(RedisError) in
                    try await registry.announce(Array(HostCommand.release.text.utf8))
                }
                try await client.announceChange()
            }
            return sum
        }
        Console(json: common.json).show(
            .object([
                "jobs": .number(sum.jobs), "devices": .number(sum.devices), "batches": .number(sum.batches),
                "shards": .number(sum.shards),
                "apps": .number(sum.apps),
            ]), text(sum))
    }

    /// Shards, and the app itself, that were put aside; not what was paused.
    @Loop private static func releaseRest(
        _ app: String, _ client: FarmClient, _ sum: inout Sum
    ) async throws(CommandFailure) {
        for mark in try await client.marks(.shards, app) where mark.kind == "quarantine" {
            guard let shard = Int(foreign: mark.text) else { continue }
            sum.shards += try await ShardHold(client: client).serve(app, shard).changed ? 1 : 0
        }
        sum.apps += try await AppHold(client: client).release(app) ? 1 : 0
    }

    private func text(_ sum: Sum) -> String {
        if sum.all == 0 { return "nothing was parked\n" }
        let parts = [
            (sum.jobs, "job", "jobs"), (sum.devices, "device", "devices"), (sum.batches, "batch", "batches"),
            (sum.shards, "shard", "shards"),
            (sum.apps, "app", "apps"),
        ].filter { $0.0 > 0 }.map { Figures.counted($0.0, $0.1, $0.2) }
        return parts.joined(separator: ", ") + (sum.all == 1 ? " goes on\n" : " go on\n")
    }
}
