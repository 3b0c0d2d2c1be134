import ArgumentParser
import EventLoop
import PushModel
import StoreProtocol

struct BacklogCommand: FarmCommand {
    static let configuration = CommandConfiguration(
        commandName: "backlog",
        abstract: "Shows open pushes by app and lane.",
        discussion: """
            Counts the pushes that have no outcome yet. The column OLDEST shows the age of
            the oldest push that is ready to send. With --eta, the command counts twice,
            and also shows the rate and the remaining time. The command reads the state of
            every batch, a few batches at a time. This takes about 0.1 s for a million
            pushes.

            Example:
              pushfarm backlog --eta
              pushfarm backlog --app demo --json
            """)

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions

    @Option(help: ArgumentHelp("Only this app's pushes.", valueName: "name"), completion: .apps)
    var app: String?

    @Flag(help: "Measures the rate and shows the remaining time.")
    var eta = false

    @Option(reads: ArgumentHelp("The time between the two counts of --eta.", valueName: "duration"))
    var over = DurationOption(seconds: 2)

    func validate() throws {
        try over.check("--over", 0.1...3600)
    }

    func run(_ client: FarmClient, _ console: Console) async throws {
        let names = try await client.apps(selectedBy: app)
        let rates = try await eta ? Self.rates(names, over: over.duration, client) : [:]
        var backlogs: [Backlog] = []
        for name in names {
            var backlog = try await Backlog.read(name, client)
            backlog.rate = rates[name]
            backlogs.append(backlog)
        }
        let now = try await client.clock().components.seconds * 1000
        console.show(
            .object(["apps": .array(backlogs.map { $0.json(at: now) })]),
            Self.text(backlogs, at: now, console.style))
    }

    /// The pushes per second that get an outcome, by app.
    @Loop private static func rates(
        _ apps: [String], over pause: Duration, _ client: FarmClient
    ) async throws(CommandFailure) -> [String: Double] {
        var first: [String: (settled: Int, at: ContinuousClock.Instant)] = [:]
        for app in apps { first[app] = (try await client.call(ReadPushCounts(), app).settled, .now) }
        do { try await Loop.sleep(for: pause) } catch { return [:] }
        var rates: [String: Double] = [:]
        for app in apps {
            guard let before = first[app] else { continue }
            let more = try await client.call(ReadPushCounts(), app).settled - before.settled
            let time = (ContinuousClock.now - before.at) / .seconds(1)
            rates[app] = Double(max(0, more)) / time
        }
        return rates
    }

    static func text(_ backlogs: [Backlog], at now: Int64, _ style: TextStyle) -> String {
        var table = Table([
            "APP": .left, "LANE": .left, "QUEUED": .right, "IN FLIGHT": .right, "DELAYED": .right,
            "PAUSED": .right, "OLDEST": .right, "RATE": .right, "LEFT": .right,
        ])
        var notes = ""
        for backlog in backlogs {
            for (index, lane) in Lane.allCases.enumerated() {
                let row = backlog.lanes[lane] ?? Backlog.LaneBacklog()
                let isFirst = index == 0
                table.add(
                    .init(isFirst ? backlog.app : ""), .init(lane.name), .init(Figures.short(row.queued)),
                    .init(Figures.short(row.inFlight)), .init(Figures.short(row.delayed)),
                    .init(Figures.short(row.paused), row.paused > 0 ? .yellow : nil),
                    .init(row.oldest.map { Figures.brief(.milliseconds(max(0, now - $0))) } ?? "-"),
                    .init(
                        isFirst
                            ? backlog.rate.map { "\(Figures.short(Int(clamping: $0.rounded())))/s" } ?? "-"
                            : ""),
                    .init(isFirst ? backlog.remaining.map { Figures.brief($0) } ?? "-" : ""))
            }
            if backlog.inbox > 0 {
                notes += "\(backlog.app): \(Figures.grouped(backlog.inbox)) jobs wait in the inbox\n"
            }
            if let pause = backlog.pause { notes += "\(backlog.app) is paused: \(pause)\n" }
        }
        return table.text(style) + notes
    }
}
