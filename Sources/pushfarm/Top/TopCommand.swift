import ArgumentParser
import EventLoop
import FarmLogging

struct TopCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "top",
        abstract: "Shows the farm live in the terminal.",
        discussion: """
            Apps, workers, hosts and jobs with their rates. The arrow keys and return show
            one of them, ? shows all keys. Without a terminal it writes plain lines; with
            --json one document a line.

            Example:
              pushfarm top
              pushfarm top --once
            """)

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions

    @Flag(help: "Look once, and write plain lines.")
    var once = false

    @Option(reads: ArgumentHelp("Between two looks: 0.2 to 60 seconds.", valueName: "duration"))
    var interval = TimeSpan(seconds: 1)

    func validate() throws {
        try interval.check("--interval", 0.2...60)
    }

    func run() throws {
        let (once, json, pause) = (once, common.json, interval.duration)
        try common.withClient { client in
            if !once, !json, let terminal = TopTerminal() {
                return await TopRun(client, terminal, interval: pause).run()
            }
            try await Self.write(from: client, once: once, json: json, every: pause)
        }
    }

    /// Writes plain lines, once or repeatedly; waits while Redis is away.
    @Loop private static func write(
        from client: FarmClient, once: Bool, json: Bool, every pause: Duration
    ) async throws {
        var isAway = false
        while true {
            do throws(CommandFailure) {
                let status = try await FarmStatus.read(from: client, countsJobs: false)
                isAway = false
                let text = json ? status.json.description + "\n" : TopText(status: status).text
                Terminal.write(text, to: Terminal.standardOutput)
            } catch {
                guard !once, error.status == .temporary else { throw error }
                if !isAway, !json {
                    Terminal.write(
                        "\(TopScreen.clock(Timestamp.now.milliseconds))  Redis is away: \(PlainText.screened(error.message))\n",
                        to: Terminal.standardOutput)
                }
                isAway = true
            }
            if once { return }
            try await Loop.sleep(for: pause)
        }
    }
}
