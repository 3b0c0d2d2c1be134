import Campaigns
import EventLoop
import FarmConfiguration
import PushModel

/// The definition of a campaign that a user names on the command line.
struct CampaignFile: Sendable {
    /// The maximum size in bytes of a definition that is read.
    private static let longest = CampaignParser.longest

    private let path: String
    private let bytes: [UInt8]

    /// Reads and checks a definition before the command connects to Redis.
    ///
    /// - Parameters:
    ///   - path: `-` means standard input.
    ///   - app: the app that the command line names. Without it and without a configured app, limits of the app are not checked.
    init(_ path: String, app: String?, _ configuration: Configuration) throws(CommandFailure) {
        self.path = path
        let file = try InputFile(path)
        var bytes: [UInt8] = []
        while bytes.count <= Self.longest, try file.read(into: &bytes) > 0 {}
        self.bytes = bytes
        let name = try app == nil && configuration.apps.isEmpty ? "" : configuration.chosenApp(app)
        _ = try campaign(app: name, configuration.app(named: name), CampaignZones())
    }

    private static let endings = [".json", ".txt", ".yaml", ".yml"]

    /// Whether a user means a file, and not the id of a campaign. A text with a slash, or with the ending of a file, always means a
    /// file, so that a misspelt path is not looked up as an id.
    static func isFile(_ source: String) -> Bool {
        source == "-" || source.contains("/") || endings.contains { source.hasSuffix($0) }
            || TextFile.exists(source)
    }

    /// Checks the definition.
    ///
    /// - Parameter settings: the app's configuration; nil if this machine has none. Without it, limits of the app are not checked.
    func campaign(
        app: String, _ settings: AppConfiguration?, _ zones: CampaignZones
    ) throws(CommandFailure) -> (campaign: Campaign, lane: Lane) {
        try zones.check()
        do throws(CampaignError) {
            let campaign = try zones.parser.parse(bytes)
            let lane = try CampaignJob.check(
                campaign,
                rules: CampaignJob.Rules(
                    app: app, topic: settings?.topic ?? "com.example.unknown",
                    limits: settings?.jobLimits ?? JobLimits(), now: WallClock.seconds))
            return (campaign, lane)
        } catch {
            throw .usage(
                "\(Self.place(of: error.position, in: bytes, path)): \(error.field): \(error.reason)")
        }
    }

    /// The path with the line and the column of a byte, both from 1: `edition.json:3:14`.
    static func place(of position: Int, in bytes: [UInt8], _ path: String) -> String {
        let before = bytes.prefix(clamping: position)
        let line = before.count { $0 == UInt8(ascii: "\n") } + 1
        let start = before.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
        // A byte that continues a character is not a column.
        let column = before[start...].count { $0 & 0xC0 != 0x80 } + 1
        return "\(path == "-" ? "standard input" : path):\(line):\(column)"
    }
}
