/// The Lua files that scripts share, by topic, in `Scripts/Shared`. The shared files that a script uses are inserted after its
/// first line, in the order of these cases.
enum SharedScript: String, CaseIterable {
    case base, events, records, pauses, finishing, batches, suspicion, cancelling
    case pausedPositions = "paused_positions"
    case backPressure = "back_pressure"
    case appPause = "app_pause"
    case suppression
    case takenJobs = "taken_jobs"
    case refusalCounts = "refusal_counts"
    case refusals
    case inputs
    case newBatches = "new_batches"
    case campaigns
    case campaignDevices = "campaign_devices"
    case mergedCampaigns = "merged_campaigns"
    case accounting
    case pauseEntries = "pause_entries"
    case campaignGuard = "campaign_guard"
    case deadLetters = "dead_letters"

    /// The files that a script's line `-- Uses  a, b, c` names.
    static func used(by script: [UInt8]) -> [SharedScript] {
        let marker = Array("\n-- Uses  ".utf8)
        guard let start = script.firstRange(of: marker)?.upperBound else { return [] }
        let line = String(decoding: script[start...].prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
        let names = Set(line.split(separator: ", ").map(String.init))
        return allCases.filter { names.contains($0.rawValue) }
    }

    var text: [UInt8] {
        switch self {
        case .base: PackageResources.base_lua
        case .events: PackageResources.events_lua
        case .records: PackageResources.records_lua
        case .pauses: PackageResources.pauses_lua
        case .finishing: PackageResources.finishing_lua
        case .batches: PackageResources.batches_lua
        case .suspicion: PackageResources.suspicion_lua
        case .cancelling: PackageResources.cancelling_lua
        case .pausedPositions: PackageResources.paused_positions_lua
        case .backPressure: PackageResources.back_pressure_lua
        case .appPause: PackageResources.app_pause_lua
        case .suppression: PackageResources.suppression_lua
        case .takenJobs: PackageResources.taken_jobs_lua
        case .refusalCounts: PackageResources.refusal_counts_lua
        case .refusals: PackageResources.refusals_lua
        case .inputs: PackageResources.inputs_lua
        case .newBatches: PackageResources.new_batches_lua
        case .campaigns: PackageResources.campaigns_lua
        case .campaignDevices: PackageResources.campaign_devices_lua
        case .mergedCampaigns: PackageResources.merged_campaigns_lua
        case .accounting: PackageResources.accounting_lua
        case .pauseEntries: PackageResources.pause_entries_lua
        case .campaignGuard: PackageResources.campaign_guard_lua
        case .deadLetters: PackageResources.dead_letters_lua
        }
    }
}
