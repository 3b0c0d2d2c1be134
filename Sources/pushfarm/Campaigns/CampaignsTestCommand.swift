import ArgumentParser
import Campaigns
import EventLoop
import PushModel
import Registry
import StoreProtocol

struct CampaignsTestCommand: ParsableCommand, Sendable {
    static let configuration = CommandConfiguration(
        commandName: "test",
        abstract: "Sends a campaign's message to named devices.",
        discussion: """
            Sends the message to a few stored devices before the campaign starts. The
            pushes are an ordinary job with the payload and the options of the campaign.
            Placeholders and translations get the values of each device. The campaign does
            not change, and its devices still get their pushes later.

            Example:
              pushfarm campaigns test edition.json --devices d-1,d-2 --app demo --wait
              pushfarm campaigns test ed-2026-11-24 --devices d-1 --fallback

            With --wait, the exit status is 1 unless every push was delivered.
            """)

    /// The maximum number of devices of a test.
    private static let mostDevices = 100

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions

    @Argument(help: ArgumentHelp("A file, -, or a campaign's id.", valueName: "file|id"))
    var source: String

    @Option(
        help: ArgumentHelp("The app. Not needed when only one app is configured.", valueName: "name"),
        completion: .apps)
    var app: String?

    @Option(
        help: ArgumentHelp("The ids of the devices, separated by commas.", valueName: "ids"),
        transform: { $0.split(separator: ",").map(String.init) })
    var devices: [String]

    @Flag(help: "Sends the payload of fallback, which the last round has.")
    var fallback = false

    @Option(help: ArgumentHelp("The variant, if the campaign has variants.", valueName: "name"))
    var variant: String?

    @Option(reads: ArgumentHelp("How long to wait while the farm is full.", valueName: "duration"))
    var timeout = DurationOption(seconds: 60)

    @Flag(help: "Waits until the job is finished, and prints the job record.")
    var wait = false

    @Flag(help: "Checks and prints the job, and submits nothing.")
    var dryRun = false

    func validate() throws {
        guard (1...Self.mostDevices).contains(devices.count) else {
            throw ValidationError("--devices needs from 1 to \(Self.mostDevices) ids.")
        }
        try timeout.check("--timeout", 0...86_400)
    }

    func run() throws {
        let configuration = try common.load()
        // The file's errors are shown even if Redis is unreachable.
        let file = try CampaignFile.isFile(source) ? CampaignFile(source, app: app, configuration) : nil
        try configuration.withClient { client in try await run(file, client, Console(json: common.json)) }
    }

    @Loop private func run(_ file: CampaignFile?, _ client: FarmClient, _ console: Console) async throws {
        let zones = CampaignZones()
        let chosen = try await CampaignSource.find(source, file, app: app, zones, client)
        guard !fallback || chosen.campaign.content.fallback != nil else {
            throw CommandFailure.usage("the campaign has no \"fallback\"")
        }
        let id = JobDraft.freshID()
        var recipients = try await recipients(of: chosen, client)
        if let index = try variant(of: chosen.campaign) {
            recipients = recipients.map { $0.with(variant: index) }
        }
        let job = CampaignJob(chosen.campaign, id: chosen.id ?? id, job: id).text(
            for: recipients, isFallback: fallback)
        try check(job, chosen.app, client)
        if !dryRun {
            let submitter = JobSubmitter(client: client, app: chosen.app, timeout: timeout.duration)
            try await submitter.submit(id, job)
            guard !wait else {
                let poller = JobRecordPoller(client: client, title: "delivering", quiet: console.json)
                let records = try await poller.wait([id], chosen.app)
                return try JobReport(jobRecords: records, console: console).show()
            }
        }
        let text = String(decoding: job, as: UTF8.self)
        console.show(
            .object([
                "app": .string(chosen.app), "id": .string(id), "devices": .number(devices.count),
                "dry_run": .bool(dryRun), "job": .verbatim(text),
            ]), (dryRun ? text : id) + "\n")
    }

    /// The index of the variant that `--variant` names; nil if the campaign has no variants.
    private func variant(of campaign: Campaign) throws(CommandFailure) -> Int? {
        guard let names = campaign.variants?.names else {
            guard variant == nil else { throw .usage("the campaign has no \"variants\"") }
            return nil
        }
        guard let variant, let index = names.firstIndex(of: variant) else {
            throw .usage("--variant must be one of the campaign's variants: \(names.joined(separator: ", "))")
        }
        return index
    }

    /// Reads the devices of `--devices`, in their order.
    @Loop private func recipients(
        of chosen: CampaignSource, _ client: FarmClient
    ) async throws(CommandFailure) -> [CampaignDevice] {
        let reader = try await client.registry(of: chosen.app)
        var found: [CampaignDevice] = []
        var names = chosen.campaign.attributes
        // The pushes of a campaign to a list have the values of rows, which the devices do not have.
        if case .list = chosen.campaign.audience { names = [] }
        for id in devices {
            let page = try await client.read { () throws(StoreError) in try await reader.device(id: id) }
            guard let record = page.devices.first?.record else {
                throw .failed("\(chosen.app) has no device \(PlainText.of(id, limit: 64))")
            }
            let values = names.compactMap { name in
                record.value(ofAttribute: name).map { (name, CampaignDevice.Value.text($0)) }
            }
            found.append(CampaignDevice(id: record.id, lang: record.lang, values: values))
        }
        return found
    }

    /// Throws the error for which the intake would refuse the job later.
    private func check(_ job: [UInt8], _ app: String, _ client: FarmClient) throws(CommandFailure) {
        let settings = client.configuration.app(named: app)
        do throws(JobError) {
            _ = try JobParser.parse(
                job, app: app, topic: settings?.topic ?? "com.example.unknown", now: WallClock.seconds,
                limits: settings?.jobLimits ?? JobLimits())
        } catch { throw .usage("the job would be refused: \(error.field): \(error.reason)") }
    }
}
