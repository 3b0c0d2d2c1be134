import ArgumentParser
import EventLoop
import FarmConfiguration
import FarmStore
import PushModel

struct PushCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "push",
        abstract: "Sends one job.",
        discussion: """
            Example:
              pushfarm push --app demo --token $TOKEN --alert "Hello" --wait
              pushfarm push --app demo --tokens-file all.txt --payload @news.json

            The job is checked before it is sent. With --wait the account is printed
            when everything is settled; the status is 1 unless all was delivered. When the
            farm is full it waits as long as --patience says, then the status is 75.

            More tokens than a job of the app may have go as several jobs, ID.1, ID.2 and
            so on, whose ids it prints; to the farm each is a job of its own.
            """)

    @OptionGroup var common: CommonOptions

    @Option(
        help: ArgumentHelp("The app. Not needed when only one is configured.", valueName: "name"),
        completion: .apps)
    var app: String?

    @Option(
        name: .customLong("token"), parsing: .upToNextOption,
        help: ArgumentHelp("Device tokens, as hex.", valueName: "hex"))
    var tokens: [String] = []

    @Option(help: ArgumentHelp("A file with one token a line; - is standard input.", valueName: "file"))
    var tokensFile: String?

    @Option(help: ArgumentHelp("The text to show: short for a payload with only that.", valueName: "text"))
    var alert: String?

    @Option(help: ArgumentHelp("The payload, or @FILE with it.", valueName: "json|@file"))
    var payload: String?

    @OptionGroup(title: "Job fields") var fields: JobFieldOptions

    @Option(help: ArgumentHelp("How long to wait while the farm is full.", valueName: "seconds"))
    var patience = 60

    @Flag(help: "Waits until all is settled, and prints the account.")
    var wait = false

    func validate() throws {
        guard (alert == nil) != (payload == nil) else {
            throw ValidationError("Give one of --alert and --payload.")
        }
        guard !tokens.isEmpty || tokensFile != nil else {
            throw ValidationError("Give --token or --tokens-file.")
        }
        guard (0...86_400).contains(patience) else {
            throw ValidationError("--patience is 0 to 86400 seconds.")
        }
    }

    func run() throws {
        let configuration = try common.load()
        let app = try configuration.chosenApp(app)
        let console = Console(json: common.json)
        let draft = JobDraft(
            id: fields.id ?? JobDraft.freshID(), tokens: try allTokens(), payload: try payloadText(),
            fields: fields.fields)
        let jobs = draft.split(limit: limits(app, configuration).tokens)
        for job in jobs { try check(job, app, configuration) }
        let (wait, patience) = (wait, Duration.seconds(patience))
        let accounts = try Loop.run { @Loop in
            let client = try await FarmClient.connect(configuration)
            defer { client.close() }
            // A farm that has never run knows no app: it may come later.
            let known = try await client.apps()
            guard known.isEmpty || known.contains(app) else {
                throw CommandFailure.usage(
                    "there is no app \(app) in this farm; it has " + known.joined(separator: ", "))
            }
            let desk = SubmitDesk(client: client, app: app, patience: patience)
            for job in jobs { try await desk.submit(job.id, Array(job.text.utf8)) }
            return wait
                ? try await AccountWatch(client: client, console: console).wait(jobs.map(\.id), app) : []
        }
        if wait {
            try AccountReport(accounts: accounts, console: console).show()
        } else {
            for job in jobs {
                console.show(
                    .object([
                        "id": .string(job.id), "app": .string(app), "submitted": .number(job.tokens.count),
                    ]),
                    "\(job.id)\n")
            }
        }
    }

    private func limits(_ app: String, _ configuration: FarmConfiguration) -> JobLimits {
        configuration.app(named: app).map { JobLimits(tokens: $0.maxTokens) } ?? JobLimits()
    }

    private func allTokens() throws(CommandFailure) -> [Substring] {
        var all = tokens.map { $0[...] }
        if let tokensFile {
            let lines = try TextFile.read(tokensFile).split(whereSeparator: \.isNewline)
            all += lines.map(\.trimmed).filter { !$0.isEmpty }
        }
        guard !all.isEmpty else { throw .usage("there is no token in \(tokensFile ?? "the command line")") }
        return all
    }

    private func payloadText() throws(CommandFailure) -> String {
        if let alert { return JSONValue.object(["aps": .object(["alert": .string(alert)])]).description }
        let text = payload ?? ""
        return text.hasPrefix("@") ? try TextFile.read(String(text.dropFirst())) : text
    }

    /// Finds here what the intake would refuse later.
    private func check(
        _ job: JobDraft, _ app: String, _ configuration: FarmConfiguration
    ) throws(CommandFailure) {
        let topic = configuration.app(named: app)?.topic ?? "com.example.unknown"
        do {
            _ = try JobParser.parse(
                Array(job.text.utf8), app: app, topic: topic, now: WallClock.seconds,
                limits: limits(app, configuration))
        } catch {
            throw .usage("the job would be refused: \(error.field): \(error.reason)")
        }
    }
}
