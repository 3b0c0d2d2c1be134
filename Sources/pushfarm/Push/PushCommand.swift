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
              pushfarm push --app demo --user u-7 u-8 --alert "Hello"

            The command checks the job by the farm's rules before it submits the job. With
            --dry-run, the command prints the job and submits nothing. With --wait, the
            command prints the job record when the job is finished, and the exit status is
            1 unless every push was delivered and every user or device is known. When the
            farm is full, the command waits for the time that --timeout gives, and then
            exits with status 75.

            If a list has more tokens than a job may have, the command submits several
            jobs. Their ids are ID.1, ID.2 and so on, where ID is the id of --id or a
            random id. The command prints these ids.
            """)

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions

    @Option(
        help: ArgumentHelp("The app. Not needed when only one app is configured.", valueName: "name"),
        completion: .apps)
    var app: String?

    @OptionGroup var recipients: RecipientOptions

    @Option(
        help: ArgumentHelp(
            "The text that the notification shows. Give either --alert or --payload.", valueName: "text"))
    var alert: String?

    @Option(help: ArgumentHelp("The payload, or @FILE to read it from a file.", valueName: "json|@file"))
    var payload: String?

    @OptionGroup(title: "Job fields") var fields: JobFieldOptions

    @Option(reads: ArgumentHelp("How long to wait while the farm is full.", valueName: "duration"))
    var timeout = DurationOption(seconds: 60)

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
            id: fields.id ?? JobDraft.freshID(), kind: recipients.kind, recipients: try recipients.all(),
            payload: try payloadText(), fields: fields.fields)
        // The job is checked before any request to Redis. Without a configured app, this check cannot know the app's topic.
        let named = app == nil && configuration.apps.isEmpty ? nil : try configuration.chosenApp(app)
        let early = try checkedJobs(of: draft, for: named ?? "", configuration)
        if dryRun, let named, configuration.app(named: named) != nil {
            for note in early.notes { console.note(note) }
            return show(early.jobs, of: named, console)
        }
        try configuration.withClient { client in
            let app = try await client.chosenApp(named)
            let jobs = try named == nil ? checkedJobs(of: draft, for: app, configuration) : early
            for note in jobs.notes { console.note(note) }
            guard !dryRun else { return show(jobs.jobs, of: app, console) }
            let submitter = JobSubmitter(client: client, app: app, timeout: timeout.duration)
            for job in jobs.jobs { try await submitter.submit(job.id, Array(job.text.utf8)) }
            guard wait else { return show(jobs.jobs, of: app, console) }
            let poller = JobRecordPoller(client: client, title: "delivering", quiet: console.json)
            let jobRecords = try await poller.wait(jobs.jobs.map(\.id), app)
            try JobReport(jobRecords: jobRecords, console: console).show()
        }
    }

    /// A job that the farm will accept.
    private struct CheckedJob: Sendable {
        let id: String
        let text: String
        /// The number of tokens, users or devices.
        let recipients: Int
        /// The number of pushes that would be sent; nil if the farm must look up the tokens first.
        let accepted: Int?
    }

    private func show(_ jobs: [CheckedJob], of app: String, _ console: Console) {
        let counted = recipients.kind == .tokens ? "submitted" : "recipients"
        for job in jobs {
            var fields = JSONValue.fields([
                "id": .string(job.id), "app": .string(app), counted: .number(job.recipients),
            ])
            if dryRun {
                fields += JSONValue.fields([
                    "dry_run": .bool(true), "accepted": .whole(job.accepted), "job": .verbatim(job.text),
                ])
                let what =
                    job.accepted.map { Figures.counted($0, "push", "pushes") }
                    ?? "pushes for \(Figures.grouped(job.recipients)) \(recipients.kind.rawValue)"
                console.note("job \(job.id) would send \(what) to \(app)")
            }
            console.show(.object(fields), dryRun ? job.text + "\n" : "\(job.id)\n")
        }
    }

    /// The jobs in the form that the farm accepts, and what the user should know about them. Throws when the farm would refuse a
    /// job.
    ///
    /// - Parameter app: empty if the app is not known yet.
    private func checkedJobs(
        of draft: JobDraft, for app: String, _ configuration: Configuration
    ) throws(CommandFailure) -> (jobs: [CheckedJob], notes: [String]) {
        let settings = configuration.app(named: app)
        var jobs: [CheckedJob] = []
        var malformed: [(token: String, reason: String)] = []
        var warning: String?
        for job in draft.split(limit: (settings?.jobLimits ?? JobLimits()).tokens) {
            let parsed = try check(job, app, settings)
            malformed += parsed.malformed.map { (parsed.text(of: $0), $0.reason) }
            warning = warning ?? parsed.warning
            let needsLookup = parsed.recipients != nil
            // The farm would finish a job without valid pushes at once, so such a job is not submitted.
            guard parsed.accepted > 0 || needsLookup else { continue }
            jobs.append(
                CheckedJob(
                    id: job.id, text: job.text, recipients: job.recipients.count,
                    accepted: needsLookup ? nil : parsed.accepted))
        }
        var notes: [String] = []
        if let first = malformed.first {
            let what = "\(PlainText.of(first.token, limit: 40)): \(first.reason)"
            // If the tokens come from a file, the farm sends pushes to the valid tokens and ignores the others. If the
            // tokens are on the command line, all of them must be valid.
            guard recipients.given.tokensFile != nil, !jobs.isEmpty else {
                throw .usage("no push was sent: \(what)")
            }
            notes.append(
                "pushfarm: \(Figures.counted(malformed.count, "push is", "pushes are")) malformed and not sent; the first: \(what)"
            )
        }
        if let warning { notes.append("pushfarm: warning: \(warning)") }
        return (jobs, notes)
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
