import ArgumentParser

struct PauseCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pause",
        abstract: "Pauses an app, a job, a token, a shard or all apps.",
        discussion: """
            During the pause, no host sends a push of the paused app, job, token or shard.
            Workers wait for the responses to the pushes in flight and return unsent pushes
            to the queue. Producers can still submit jobs. No push is lost. The pause
            survives restarts and new credentials. The command "pushfarm resume" ends the
            pause.

            The command refuses a name that fits both an app and a job; use --app or --job
            for such a name. At most 1,000 tokens of an app can be paused at a time.

            Example:
              pushfarm pause demo --reason "the text is wrong"
              pushfarm pause order-4711
              pushfarm pause --job demo --app demo
              pushfarm pause --shard 7 --app demo
              pushfarm pause --token 00fc13adff785122b4ad2880 --app demo
              pushfarm pause all
            """)

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions
    @OptionGroup var subject: SubjectOptions

    @Option(
        help: ArgumentHelp("The reason for the pause, which \"pushfarm paused\" shows.", valueName: "text"))
    var reason: String?

    func validate() throws {
        if subject.isEmpty { throw ValidationError("Name an app, a job, --token, --shard, or \"all\".") }
    }

    func run() throws {
        let reason = try Self.line(ofReason: reason)
        try subject.change("pause", common) { pauses, target throws(CommandFailure) in
            try await pauses.pause(target, reason: reason)
        }
    }

    /// The reason on one line, or an empty text when there is no reason.
    static func line(ofReason reason: String?) throws(CommandFailure) -> String {
        guard let reason else { return "" }
        guard reason.unicodeScalars.allSatisfy({ $0.value >= 0x20 && $0.value != 0x7F }),
            reason.utf8.count <= 500
        else { throw .usage("--reason must be one line of at most 500 bytes") }
        return reason
    }
}
