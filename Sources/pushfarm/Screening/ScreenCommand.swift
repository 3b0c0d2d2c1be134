import ArgumentParser
import EventLoop
import FarmConfiguration
import RedisClient
import Segments
import StoreProtocol

struct ScreenCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "screen",
        abstract: "Finds invalid tokens in a list by sending silent pushes.",
        discussion: """
            Example:
              pushfarm screen --app demo --tokens-file all.txt --rate 2000
              pushfarm push --app demo --tokens-file all.txt.good --alert "Hello"
              pushfarm screen --app demo --segment 'tag:old' --tokens-file old.txt

            The command sends each token one silent push, which shows nothing on the
            device. The command writes the results to three files, named after the FILE of
            --tokens-file. FILE.good gets the tokens that the gateway accepts. FILE.invalid
            gets the invalid tokens with reason and time. FILE.rest gets the tokens that
            the screening could not decide.

            With --segment, the command first writes the tokens of the segment's stored
            devices to FILE.

            After Control-C, "kill -9" or an outage of Redis, run the same command again.
            The command then continues, and repeats no push that has an outcome. The exit
            status is 1 when some lines were neither good nor invalid tokens, and 75 when
            the command must be run again.
            """)

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions

    @Option(
        help: ArgumentHelp("The app. Not needed when only one app is configured.", valueName: "name"),
        completion: .apps)
    var app: String?

    @Option(help: ArgumentHelp("A file with one token on each line.", valueName: "file"))
    var tokensFile: String

    @Option(
        help: ArgumentHelp(
            "The devices whose tokens are written to the file: an expression, or the name of a saved segment.",
            valueName: "segment"))
    var segment: String?

    @Option(reads: ArgumentHelp("The number of pushes per second.", valueName: "n"))
    var rate = 500

    @Option(help: ArgumentHelp("The file for good tokens. Default: FILE.good.", valueName: "file"))
    var good: String?

    @Option(help: ArgumentHelp("The file for invalid tokens. Default: FILE.invalid.", valueName: "file"))
    var invalid: String?

    @Option(help: ArgumentHelp("The file for undecided tokens. Default: FILE.rest.", valueName: "file"))
    var rest: String?

    @Flag(help: "Starts a new screening, and replaces the files of an earlier one.")
    var startOver = false

    @Option(
        reads: ArgumentHelp("How long the command continues without progress.", valueName: "duration"))
    var timeout = DurationOption(seconds: 600)

    func validate() throws {
        guard (1...100_000).contains(rate) else { throw ValidationError("--rate must be from 1 to 100000.") }
        try timeout.check("--timeout", 1...86_400)
    }

    func run() throws {
        let configuration = try common.load()
        let app = try configuration.chosenApp(app)
        if let segment, !ChosenSegment.isName(segment) { _ = try SegmentExpression(reading: segment) }
        // A file that cannot be read is reported before a connection is made.
        let survey = segment == nil ? try TokenSurvey.of(tokensFile) : nil
        try Loop.run { @Loop in
            let end = EndSignal()
            let client = try await FarmClient.connect(configuration)
            defer { client.close() }
            try await screen(survey, app, client, until: end)
        }
    }

    @Loop private func screen(
        _ known: TokenSurvey?, _ app: String, _ client: FarmClient, until end: EndSignal
    ) async throws {
        try await client.mustHave(app: app)
        let paths = ScreeningFiles.Paths(tokens: tokensFile, good: good, invalid: invalid, rest: rest)
        if let segment {
            try await SegmentTokens(client: client, app: app, segment: segment, path: tokensFile).prepare(
                isResumed: TextFile.exists(paths.progress), startOver: startOver)
        }
        let survey = if let known { known } else { try TokenSurvey.of(tokensFile) }
        let limit = client.configuration.app(named: app)?.maxTokens ?? Int.max
        let last = try await client.entries(of: .events(app), .latest, count: 1).first?.id ?? .first
        let fresh = ScreeningRecord(
            app: app, run: String(UInt64.random(in: .min ... .max), radix: 36),
            fingerprint: survey.fingerprint, chunk: ScreeningPace.chunk(rate: rate, limit: limit),
            since: last.description)
        let run = ScreeningRun(
            client: client, plan: .init(app: app, rate: rate, timeout: timeout.duration), survey: survey,
            files: try ScreeningFiles(paths, fresh: fresh, startOver: startOver),
            progress: ProgressLine(
                "screening", total: survey.tokens, quiet: common.json, plainPause: .seconds(10)))
        var failure: CommandFailure?
        do { try await run.run { end.isGiven } } catch { failure = error }
        let summary = run.summary
        let console = Console(json: common.json)
        console.show(summary.json, summary.text(console.style))
        if let failure { throw failure }
        guard summary.open == 0 else {
            throw CommandFailure.temporary("interrupted; run the same command again to continue")
        }
        if !summary.isClear { throw CommandFailure.failed() }
    }
}
