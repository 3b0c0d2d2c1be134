import ArgumentParser
import EventLoop
import StoreProtocol

struct DeadCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "dead",
        abstract: "Shows, exports and deletes dead letters.",
        discussion: """
            A dead letter keeps pushes of one job that failed for the same reason although
            their tokens are valid. The setting "dead_letters" limits the number and the
            age of dead letters. The command "pushfarm replay" sends the pushes of dead
            letters again.

            Example:
              pushfarm dead list
              pushfarm dead show 1780000000123-0
              pushfarm dead export letters.jsonl --app demo
              pushfarm dead drop --job order-4711
            """,
        subcommands: [
            DeadListCommand.self, DeadShowCommand.self, DeadDropCommand.self,
            DeadExportCommand.self,
        ])
}

struct DeadListCommand: FarmCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "Counts dead letters by app, reason and age, or lists them.",
        discussion: """
            Example:
              pushfarm dead list
              pushfarm dead list --letters --reason PayloadTooLarge --limit 20
            """)

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions
    @OptionGroup var selection: DeadLetterOptions

    @Flag(help: "Lists single dead letters, the oldest first, instead of counts.")
    var letters = false

    @Option(
        reads: ArgumentHelp("With --letters: the largest number of dead letters to list.", valueName: "count")
    )
    var limit = 100

    func validate() throws {
        guard limit > 0 else { throw ValidationError("--limit must be at least 1.") }
    }

    func run(_ client: FarmClient, _ console: Console) async throws {
        let filter = selection.filter
        let now = try await client.clock().components.seconds * 1000
        var summary = DeadLetterSummary(now: now)
        var found: [DeadLetterList.Line] = []
        for app in try await client.apps(selectedBy: selection.app) where !letters || found.count < limit {
            summary.add(try await client.call(CountDeadLetters(), app), app: app)
            try await client.readDeadLetters(of: app, filter) { (letter) throws(CommandFailure) in
                guard letters else {
                    summary.add(letter, app: app)
                    return true
                }
                found.append((app, letter))
                return found.count < limit
            }
        }
        if letters {
            let list = DeadLetterList(now: now, lines: found)
            console.show(list.json, list.text(console.style))
        } else {
            console.show(summary.json, summary.text(console.style))
        }
    }
}

struct DeadShowCommand: FarmCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Shows dead letters with payloads and tokens.",
        discussion: """
            Example:
              pushfarm dead show 1780000000123-0
              pushfarm dead show 1780000000123-0 --json

            With --json, each dead letter is a JSON document on its own line.
            """)

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions

    @Option(
        help: ArgumentHelp("The app, if the farm has several apps.", valueName: "name"), completion: .apps)
    var app: String?

    @Argument(reads: "Ids of dead letters, as \"pushfarm dead list --letters\" shows them.")
    var ids: [EntryID]

    func run(_ client: FarmClient, _ console: Console) async throws {
        let apps = try await client.apps(selectedBy: app)
        var found: [DecodedDeadLetter] = []
        var missing: [EntryID] = []
        for id in ids {
            let before = found.count
            for app in apps {
                for letter in try await client.call(ReadDeadLetters(.only(id)), app).letters {
                    found.append(try DecodedDeadLetter(readable: letter, app: app))
                }
            }
            if found.count == before { missing.append(id) }
        }
        for (index, letter) in found.enumerated() {
            if index > 0 { console.say("") }
            console.show(letter.json, letter.text(console.style))
        }
        guard missing.isEmpty else {
            let names = missing.map(\.description).joined(separator: ", ")
            throw CommandFailure.failed("there is no dead letter \(names)")
        }
    }
}

struct DeadDropCommand: FarmCommand {
    static let configuration = CommandConfiguration(
        commandName: "drop",
        abstract: "Deletes dead letters.",
        discussion: """
            Example:
              pushfarm dead drop --reason BadTopic --dry-run
              pushfarm dead drop 1780000000123-0
              pushfarm dead drop --all --app demo
            """)

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions
    @OptionGroup var change: DeadLetterChangeOptions

    @Flag(help: "Deletes all dead letters.")
    var all = false

    func validate() throws {
        guard all == change.isEverything else {
            throw ValidationError(
                "Give either ids, or a selection (--job, --reason, --since), or --all alone.")
        }
    }

    func run(_ client: FarmClient, _ console: Console) async throws {
        let settings = ReplaySettings(
            name: JobDraft.freshID(), filter: change.filter, limit: change.limit, isDropping: true,
            isDry: change.dryRun, life: 3600)
        let typed = ["dead", "drop"] + (all ? ["--all"] : []) + change.words
        try await ReplayRun(client: client, settings: settings, console: console)
            .perform(app: change.selection.app, typed: typed)
    }
}

struct DeadExportCommand: FarmCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Exports dead letters to a file, one push per line.",
        discussion: """
            Each line is a JSON document with these fields: token, payload, options (named
            as in the job contract), reason, status, cause, attempts, at (Unix
            milliseconds), app, job, dead_letter. The export deletes no dead letter; use
            "pushfarm dead drop" for that.

            Example:
              pushfarm dead export letters.jsonl --reason PayloadTooLarge
              pushfarm dead export - --app demo | jq -r .token
            """)

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions
    @OptionGroup var selection: DeadLetterOptions

    @Argument(help: "The file to write, or \"-\" for standard output.")
    var file: String

    func run(_ client: FarmClient, _ console: Console) async throws {
        let filter = selection.filter
        let apps = try await client.apps(selectedBy: selection.app)
        let total = try await client.deadLetterPushes(of: apps)
        var sink = try TextSink(file == "-" ? nil : file)
        var progress = ProgressLine("pushes", total: total, quiet: console.json || file == "-")
        var (letters, pushes) = (0, 0)
        for app in apps {
            try await client.readDeadLetters(of: app, filter) { (letter) throws(CommandFailure) in
                for line in try DecodedDeadLetter(readable: letter, app: app).lines {
                    try sink.write(line.description)
                }
                letters += 1
                pushes += letter.pushes
                progress.update(pushes)
                return true
            }
        }
        progress.finish()
        try sink.finish()
        guard file != "-" else { return }
        console.show(
            .object(["dead_letters": .number(letters), "pushes": .number(pushes)]),
            "\(Figures.counted(pushes, "push", "pushes")) of "
                + "\(Figures.counted(letters, "dead letter", "dead letters")) exported\n")
    }
}
