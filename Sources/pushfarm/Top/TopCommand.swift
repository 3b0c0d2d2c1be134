import ArgumentParser
import EventLoop
import FarmLogging

struct TopCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "top",
        abstract: "Shows the farm live in the terminal.",
        discussion: """
            Shows apps, workers, hosts, jobs and campaigns with their rates. The arrow keys
            select a line, and the return key opens it; the key ? shows all keys. Without a
            terminal, the command prints plain lines. With --json, the command prints one
            JSON document per line.

            Example:
              pushfarm top
              pushfarm top --once
            """)

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions

    @Flag(help: "Prints the state once, as plain lines.")
    var once = false

    @Option(reads: ArgumentHelp("The time between two updates: 0.2 to 60 seconds.", valueName: "duration"))
    var interval = DurationOption(seconds: 1)

    func validate() throws {
        try interval.check("--interval", 0.2...60)
    }

    func run() throws {
        try common.withClient { client in
            if !once, !common.json, let terminal = TopTerminal() {
                return await TopRun(client, terminal, interval: interval.duration).run()
            }
            try await write(from: client)
        }
    }

    /// Prints plain lines, once or repeatedly. Waits while Redis is unreachable.
    @Loop private func write(from client: FarmClient) async throws {
        var isAway = false
        while true {
            do throws(CommandFailure) {
                let status = try await FarmStatus.read(from: client, countsJobs: false)
                isAway = false
                let text = common.json ? status.json.description + "\n" : TopText(status: status).text
                Terminal.write(text, to: Terminal.standardOutput)
            } catch {
                guard !once, error.status == .temporary else { throw error }
                if !isAway, !common.json {
                    Terminal.write(
                        "\(TopScreen.clock(Timestamp.now.milliseconds))  Redis is away: \(PlainText.screened(error.message))\n",
                        to: Terminal.standardOutput)
                }
                isAway = true
            }
            if once { return }
            try await Loop.sleep(for: interval.duration)
        }
    }
}

/// The farm's state as plain lines: one line for the farm, one for each app, campaign and problem.
struct TopText {
    let status: FarmStatus

    var text: String {
        let hosts = status.live
        let workers = hosts.flatMap(\.workers)
        let rate = hosts.reduce(0) { $0 + $1.rate }
        let time = TopScreen.clock(status.at)
        var text =
            "\(time)  farm  \(rate)/s  hosts \(hosts.count)  workers \(workers.count { $0.state == "ready" }) of \(workers.count)"
            + "  Redis \(Figures.bytes(Int64(status.redis.usedMemory)))\n"
        for app in status.apps {
            let sums = status.sums(of: app.app)
            text +=
                "\(time)  app \(PlainText.of(app.app))  \(app.state.word)  \(sums.rate)/s  errors \(sums.errors)/s  open \(app.depths.open)"
            text += "  oldest \(app.ages.oldest.map { Figures.brief($0) } ?? "-")"
            text += "  delayed \(app.depths.delayed)  dead \(app.dead)  streams \(sums.streams)"
            text += sums.p99.map { "  p99 \($0) ms" } ?? ""
            text += "\n"
        }
        for campaign in status.campaigns {
            text += "\(time)  campaign \(PlainText.of(campaign.campaign))  \(PlainText.of(campaign.word))"
            text += "  app \(PlainText.of(campaign.app))  round \(campaign.round) of \(campaign.rounds)"
            text += "  handled \(campaign.handled) of \(campaign.counted)"
            text += campaign.remaining.map { "  left \(Figures.brief(.milliseconds($0)))" } ?? ""
            let next = campaign.next.map { Duration.milliseconds(max(0, Int64($0) - status.at)) }
            text += next.map { "  next in \(Figures.brief($0))" } ?? ""
            text += "\n"
        }
        for trouble in status.troubles { text += "\(time)  trouble  \(PlainText.of(trouble, limit: 300))\n" }
        return text
    }
}
