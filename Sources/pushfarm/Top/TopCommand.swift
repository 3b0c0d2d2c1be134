import ArgumentParser
import EventLoop
import FarmLogging

struct TopCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "top",
        abstract: "Shows the farm live in the terminal.",
        discussion: """
            Apps, workers, hosts and jobs with their rates; the arrow keys and return lead
            to each of them, ? tells the rest. Where there is no terminal it writes plain
            lines, once a look; with --json a document a line.

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

    /// Plain lines, as often as wished; a Redis that is away is waited for.
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
