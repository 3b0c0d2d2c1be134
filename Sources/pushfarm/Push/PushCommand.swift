import ArgumentParser
import EventLoop
import FarmConfiguration
import PushModel
import StoreProtocol

struct PushCommand: ParsableCommand, Sendable {
    static let configuration = CommandConfiguration(
        commandName: "push",
        abstract: "Submits a job, which sends pushes.",
        discussion: """
            Example:
              pushfarm push --token $TOKEN --alert "Hello" --wait
              pushfarm push --app demo --tokens-file all.txt --payload @news.json

            The command checks the job by the farm's rules before it submits the job. With
            --dry-run, the command prints the job and submits nothing. With --wait, the
            command prints the job record when the job is finished, and the exit status is
            1 unless every push was delivered. When the farm is full, the command waits for
            the time that --timeout gives, and then exits with status 75.

            If a list has more tokens than a job may have, the command submits several
            jobs. Their ids are ID.1, ID.2 and so on, where ID is the id of --id or a
            random id. The command prints these ids.
            """)

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions

    @Option(
        help: ArgumentHelp("The app. Not needed when only one app is configured.", valueName: "name"),
        completion: .apps)
    var app: String?

    @OptionGroup var list: TokenOptions

    @Option(
        help: ArgumentHelp(
            "The text that the notification shows. Give either --alert or --payload.", valueName: "text"))
    var alert: String?

    @Option(help: ArgumentHelp("The payload, or @FILE to read it from a file.", valueName: "json|@file"))
    var payload: String?

    @OptionGroup(title: "Job fields") var fields: JobFieldOptions

    @Option(reads: ArgumentHelp("How long to wait while the farm is full.", valueName: "duration"))
    var timeout = TimeSpan(seconds: 60)

    @Flag(help: "Waits until the job is finished, and prints the job record.")
    var wait = false

    @Flag(help: "Checks and prints the job, and submits nothing.")
    var dryRun = false

    func validate() throws {
        guard (alert == nil) != (payload == nil) else {
            throw ValidationError("Give exactly one of --alert and --payload.")
        }
        try timeout.check("--timeout", 0...86_400)
    }

    func run() throws {
        let configuration = try common.load()
        let console = Console(json: common.json)
        let draft = JobDraft(
            id: fields.id ?? JobDraft.freshID(), tokens: try allTokens(), payload: try payloadText(),
            fields: fields.fields)
        // For a configured app, the job is checked before any request to Redis.
        let named = app == nil && configuration.apps.isEmpty ? nil : try configuration.chosenApp(app)
        let early = try named.map { app throws(CommandFailure) in
            try checkedJobs(of: draft, for: app, configuration, console)
        }
        if dryRun, let named, let early, configuration.app(named: named) != nil {
            return show(early, of: named, console)
        }
        try configuration.withClient { client in
            let app = try await client.chosenApp(named)
            let jobs = try early ?? checkedJobs(of: draft, for: app, configuration, console)
            guard !dryRun else { return show(jobs, of: app, console) }
            let submitter = JobSubmitter(client: client, app: app, timeout: timeout.duration)
            for job in jobs { try await submitter.submit(job.id, Array(job.text.utf8)) }
            guard wait else { return show(jobs, of: app, console) }
            let poller = JobRecordPoller(client: client, title: "delivering", quiet: console.json)
            let jobRecords = try await poller.wait(jobs.map(\.id), app)
            try JobReport(jobRecords: jobRecords, console: console).show()
        }
    }

    /// A job that the farm will accept.
    private struct CheckedJob: Sendable {
        let id: String
        let text: String
        let tokens: Int
        /// The number of pushes that would be sent.
        let accepted: Int
    }

    private func show(_ jobs: [CheckedJob], of app: String, _ console: Console) {
        for job in jobs {
            var fields = JSONValue.fields([
                "id": .string(job.id), "app": .string(app), "submitted": .number(job.tokens),
            ])
            if dryRun {
                fields += JSONValue.fields([
                    "dry_run": .bool(true), "accepted": .number(job.accepted), "job": .verbatim(job.text),
                ])
                console.note(
                    "job \(job.id) would send \(Figures.counted(job.accepted, "push", "pushes")) to \(app)")
            }
            console.show(.object(fields), dryRun ? job.text + "\n" : "\(job.id)\n")
        }
    }

    /// The jobs in the form that the farm accepts. Throws when the farm would refuse a job.
    private func checkedJobs(
        of draft: JobDraft, for app: String, _ configuration: Configuration, _ console: Console
    ) throws(CommandFailure) -> [CheckedJob] {
        let settings = configuration.app(named: app)
        var jobs: [CheckedJob] = []
        var malformed: [(token: String, reason: String)] = []
        var warning: String?
        for job in draft.split(limit: (settings?.jobLimits ?? JobLimits()).tokens) {
            let parsed = try check(job, app, settings)
            malformed += parsed.malformed.map { (parsed.text(of: $0), $0.reason) }
            warning = warning ?? parsed.warning
            // The farm would finish a job without valid pushes at once, so such a job is not submitted.
            guard parsed.accepted > 0 else { continue }
            jobs.append(
                CheckedJob(id: job.id, text: job.text, tokens: job.tokens.count, accepted: parsed.accepted))
        }
        if let first = malformed.first {
            let what = "\(PlainText.of(first.token, limit: 40)): \(first.reason)"
            // If the tokens come from a file, the farm sends pushes to the valid tokens and ignores the others. If the
            // tokens are on the command line, all of them must be valid.
            guard list.tokensFile != nil, !jobs.isEmpty else { throw .usage("no push was sent: \(what)") }
            console.note(
                "pushfarm: \(Figures.counted(malformed.count, "push is", "pushes are")) malformed and not sent; the first: \(what)"
            )
        }
        if let warning { console.note("pushfarm: warning: \(warning)") }
        return jobs
    }

    private func allTokens() throws(CommandFailure) -> [Substring] {
        var all = list.tokens.map { $0[...] }
        if let file = list.tokensFile {
            let lines = try TextFile.read(file).split(whereSeparator: \.isNewline)
            all += lines.map(\.trimmed).filter { !$0.isEmpty }
        }
        guard !all.isEmpty else {
            throw .usage("there is no token in \(list.tokensFile ?? "the command line")")
        }
        return all
    }

    private func payloadText() throws(CommandFailure) -> String {
        if let alert { return JSONValue.object(["aps": .object(["alert": .string(alert)])]).description }
        let text = payload ?? ""
        let json = text.hasPrefix("@") ? try TextFile.read(String(text.dropFirst())) : text
        try Self.check(payload: json, of: text.hasPrefix("@") ? String(text.dropFirst()) : nil)
        return json
    }

    /// - Parameter file: the file of the payload, or nil for a payload on the command line.
    static func check(payload: String, of file: String?) throws(CommandFailure) {
        let fault: JSONError? = Array(payload.utf8).withUnsafeBytes { bytes in
            do throws(JSONError) { try JSONScanner.validate(bytes) } catch { return error }
            return nil
        }
        guard let fault else { return }
        let place = file.map { $0 + ": " } ?? ""
        throw .usage("\(place)payload is not valid JSON: \(fault.description), at byte \(fault.position)")
    }

    /// Throws the error for which the intake would refuse the job later.
    private func check(
        _ job: JobDraft, _ app: String, _ settings: AppConfiguration?
    ) throws(CommandFailure) -> ParsedJob {
        let text = Array(job.text.utf8)
        let limit = settings?.maxJobBytes ?? 64 << 20
        guard text.count <= limit else {
            throw .usage(
                "job \(job.id) has \(text.count) bytes, and \(app) takes at most \(limit) (max_job_bytes)")
        }
        do {
            return try JobParser.parse(
                text, app: app, topic: settings?.topic ?? "com.example.unknown", now: WallClock.seconds,
                limits: settings?.jobLimits ?? JobLimits())
        } catch {
            throw .usage("the job would be refused: \(error.field): \(error.reason)")
        }
    }
}
