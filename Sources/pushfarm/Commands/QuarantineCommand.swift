import ArgumentParser
import EventLoop
import FarmStore
import PushModel

struct QuarantineCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "quarantine",
        abstract: "Puts jobs, apps, shards or devices aside; nothing of them is lost.",
        discussion: """
            What is put aside waits until it is released; who did it, when and why is kept.

            Example:
              pushfarm quarantine job order-4711 --reason "crashes the app"
              pushfarm quarantine app demo
              pushfarm quarantine shard 7 --app demo
              pushfarm quarantine token 00fc13adff78… --app demo
              pushfarm quarantine list
            """,
        subcommands: [
            QuarantineJobCommand.self, QuarantineAppCommand.self, QuarantineShardCommand.self,
            QuarantineTokenCommand.self, QuarantineListCommand.self,
        ])
}

/// What all quarantines take.
struct QuarantineOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Why; it is kept and shown.", valueName: "text"))
    var reason: String?

    @Flag(help: "Says what would be done, and changes nothing.")
    var dryRun = false

    func line() throws(CommandFailure) -> String {
        try reason.map { text throws(CommandFailure) in try OperatorText.line(text) } ?? ""
    }
}

struct QuarantineJobCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "job",
        abstract: "Puts a job's pushes aside.",
        discussion: """
            Example:
              pushfarm quarantine job order-4711 --reason "crashes the app"
            """)

    @OptionGroup var common: CommonOptions
    @OptionGroup var options: QuarantineOptions

    @Argument(help: "The job's id.")
    var job: String

    @Option(
        help: ArgumentHelp("The app, when several have a job of that id.", valueName: "name"),
        completion: .apps)
    var app: String?

    func run() throws {
        let (configuration, job, app) = (try common.load(), job, app)
        let (reason, dryRun) = (try options.line(), options.dryRun)
        let console = Console(json: common.json)
        let report = try Loop.run { @Loop in
            var report = ChangeReport(command: "quarantine", isDryRun: dryRun)
            let client = try await FarmClient.connect(configuration)
            defer { client.close() }
            let name = try await client.app(ofJob: job, app: app)
            report.lines = [
                try await JobHold(client: client, isDryRun: dryRun).hold(
                    job, name, .quarantine, reason: reason)
            ]
            try await report.tellHosts(["quarantine", "job", job], client, console)
            return report
        }
        report.show(console)
        try report.check()
    }
}

struct QuarantineAppCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "app",
        abstract: "Puts a whole app aside: it is paused until it is released or resumed.",
        discussion: """
            Example:
              pushfarm quarantine app demo --reason "the certificate was stolen"
            """)

    @OptionGroup var common: CommonOptions
    @OptionGroup var options: QuarantineOptions

    @Argument(help: "The app.")
    var app: String

    func run() throws {
        let (configuration, app) = (try common.load(), app)
        let (reason, dryRun) = (try options.line(), options.dryRun)
        let console = Console(json: common.json)
        let report = try Loop.run { @Loop in
            var report = ChangeReport(command: "quarantine", isDryRun: dryRun)
            let client = try await FarmClient.connect(configuration)
            defer { client.close() }
            try await client.mustHave(app: app)
            let by = OperatorName.current
            var changed = try await client.call(ReadStanding(), app).pause?.by == nil
            if changed, !dryRun {
                let text = "quarantined by \(by)" + (reason.isEmpty ? "" : ": \(reason)")
                changed = try await client.call(Pause(reason: text, by: by), app)
            }
            report.lines = [
                .init(app: app, changed: changed, text: changed ? "is quarantined" : "was paused already")
            ]
            try await report.tellHosts(["quarantine", "app", app], client, console)
            return report
        }
        report.show(console)
        try report.check()
    }
}

struct QuarantineShardCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "shard",
        abstract: "No worker serves the shard any more.",
        discussion: """
            Example:
              pushfarm quarantine shard 7 --app demo
            """)

    @OptionGroup var common: CommonOptions
    @OptionGroup var options: QuarantineOptions

    @Argument(help: "The shard's number.")
    var shard: Int

    @Option(
        help: ArgumentHelp("The app; needed when there are several.", valueName: "name"), completion: .apps)
    var app: String?

    func validate() throws {
        guard (0...9999).contains(shard) else { throw ValidationError("A shard has a number from 0 on.") }
    }

    func run() throws {
        let (configuration, shard) = (try common.load(), shard)
        let (reason, dryRun) = (try options.line(), options.dryRun)
        let console = Console(json: common.json)
        let app = try configuration.chosenApp(app)
        let report = try Loop.run { @Loop in
            var report = ChangeReport(command: "quarantine", isDryRun: dryRun)
            let client = try await FarmClient.connect(configuration)
            defer { client.close() }
            try await client.mustHave(app: app)
            report.lines = [
                try await ShardHold(client: client, isDryRun: dryRun).hold(
                    app, shard, .quarantine, reason: reason)
            ]
            try await report.tellHosts(["quarantine", "shard", "\(shard)", "--app=" + app], client, console)
            return report
        }
        report.show(console)
        try report.check()
    }
}

struct QuarantineTokenCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "token",
        abstract: "Pushes to one device wait.",
        discussion: """
            At most 1,000 devices of an app. What is queued for them, and what comes, is
            parked.

            Example:
              pushfarm quarantine token 00fc13adff785122b4ad2880 --app demo
            """)

    @OptionGroup var common: CommonOptions
    @OptionGroup var options: QuarantineOptions

    @Argument(help: "The device token, as hex.")
    var token: String

    @Option(
        help: ArgumentHelp("The app; needed when there are several.", valueName: "name"), completion: .apps)
    var app: String?

    func run() throws {
        let (configuration, text) = (try common.load(), token)
        let (reason, dryRun) = (try options.line(), options.dryRun)
        let console = Console(json: common.json)
        let app = try configuration.chosenApp(app)
        let token = try OperatorText.token(text)
        let report = try Loop.run { @Loop in
            var report = ChangeReport(command: "quarantine", isDryRun: dryRun)
            let client = try await FarmClient.connect(configuration)
            defer { client.close() }
            try await client.mustHave(app: app)
            let shards = try await client.shards()
            let shard = token.withUnsafeBytes { ShardHash.shard(of: $0, shards: shards) }
            var changed = try await !client.marks(.devices, app).contains { $0.name == token }
            if changed, !dryRun {
                let hold = Hold(.device(token, shard: shard), by: OperatorName.current, reason: reason)
                let reply = try await client.call(hold, app)
                if reply.subject == .full {
                    throw CommandFailure.failed("\(app) has 1000 devices in quarantine already")
                }
                changed = reply.hasChanged
            }
            report.lines = [
                .init(
                    app: app, token: text.lowercased(), changed: changed,
                    text: changed ? "is quarantined" : "was quarantined already")
            ]
            // Device tokens are in no record.
            try await report.tellHosts(["quarantine", "token", "--app=" + app], client, console)
            return report
        }
        report.show(console)
        try report.check()
    }
}

extension OperatorText {
    /// A device token on a command line.
    static func token(_ text: String) throws(CommandFailure) -> [UInt8] {
        do { return try DeviceToken.bytes(of: text) } catch { throw .usage("\(text): \(error)") }
    }
}
