package import RedisProtocol

/// The Lua scripts of the farm. Each file under `Scripts` starts with a header: the script's keys, arguments and reply, and what
/// happens if the call is repeated.
package enum Script: String, CaseIterable, Sendable {
    case lease, take, refuse, split, checkout, report, putback, settle, reclaim, resume, quarantine
    case pause
    case cancelBatches = "cancel_batches"
    case createGroup = "create_group"
    case promoteDue = "promote_due"
    case promoteJob = "promote_job"
    case inFlightShards = "in_flight_shards"
    case suppress, feedback, depths, ages, repair
    case resolveUnconfirmed = "resolve_unconfirmed"
    case findDamage = "find_damage"
    case trim, replay
    case swapProviderToken = "swap_provider_token"
    case heartbeat
    case initFarm = "init_farm"
    case operate, alert
    case updateApp = "update_app"
    case addEvent = "add_event"
    case intakeCrash = "intake_crash"
    case queueLookups = "queue_lookups"
    case readLookups = "read_lookups"
    case finishLookups = "finish_lookups"
    case takeInputs = "take_inputs"
    case finishInputs = "finish_inputs"
    case storeCampaignStep = "store_campaign_step"
    case changeCampaign = "change_campaign"
    case markDone = "mark_done"
    case markRewards = "mark_rewards"
    case checkAccounting = "check_accounting"
    case applyChanges = "apply_changes"

    /// The text that coordinators load into Redis: the shebang, the shared files that the script uses, and the script's body.
    package var text: [UInt8] { Self.texts[self, default: []] }

    /// Loads the script. The reply is the hash that identifies the script in calls.
    package var loadCommand: RESPCommand {
        var command = RESPCommand("SCRIPT", "LOAD")
        command.append(text)
        return command
    }

    private static let texts = Dictionary(
        allCases.map { ($0, $0.assembled) }, uniquingKeysWith: { first, _ in first })

    /// The shebang, the shared files that the script's `-- Uses` line names, and the body. The text is assembled here, because
    /// Redis has no include statement and requires the shebang in the first line.
    private var assembled: [UInt8] {
        let shared = SharedScript.used(by: file)
        guard !shared.isEmpty else { return file }
        let end = file.firstIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? file.endIndex
        return file[..<end] + shared.flatMap(\.text) + file[end...]
    }

    /// Whether the script only reads, so that a Redis user without the right to write may run it.
    var isReadOnly: Bool {
        switch self {
        case .inFlightShards, .depths, .ages, .findDamage, .checkAccounting: true
        default: false
        }
    }

    private var file: [UInt8] {
        switch self {
        case .lease: PackageResources.lease_lua
        case .take: PackageResources.take_lua
        case .refuse: PackageResources.refuse_lua
        case .intakeCrash: PackageResources.intake_crash_lua
        case .queueLookups: PackageResources.queue_lookups_lua
        case .readLookups: PackageResources.read_lookups_lua
        case .finishLookups: PackageResources.finish_lookups_lua
        case .takeInputs: PackageResources.take_inputs_lua
        case .finishInputs: PackageResources.finish_inputs_lua
        case .storeCampaignStep: PackageResources.store_campaign_step_lua
        case .changeCampaign: PackageResources.change_campaign_lua
        case .markDone: PackageResources.mark_done_lua
        case .markRewards: PackageResources.mark_rewards_lua
        case .split: PackageResources.split_lua
        case .checkout: PackageResources.checkout_lua
        case .report: PackageResources.report_lua
        case .putback: PackageResources.putback_lua
        case .settle: PackageResources.settle_lua
        case .promoteDue: PackageResources.promote_due_lua
        case .reclaim: PackageResources.reclaim_lua
        case .resume: PackageResources.resume_lua
        case .quarantine: PackageResources.quarantine_lua
        case .pause: PackageResources.pause_lua
        case .cancelBatches: PackageResources.cancel_batches_lua
        case .promoteJob: PackageResources.promote_job_lua
        case .suppress: PackageResources.suppress_lua
        case .resolveUnconfirmed: PackageResources.resolve_unconfirmed_lua
        case .feedback: PackageResources.feedback_lua
        case .inFlightShards: PackageResources.in_flight_shards_lua
        case .updateApp: PackageResources.update_app_lua
        case .createGroup: PackageResources.create_group_lua
        case .depths: PackageResources.depths_lua
        case .ages: PackageResources.ages_lua
        case .findDamage: PackageResources.find_damage_lua
        case .checkAccounting: PackageResources.check_accounting_lua
        case .applyChanges: PackageResources.apply_changes_lua
        case .repair: PackageResources.repair_lua
        case .trim: PackageResources.trim_lua
        case .replay: PackageResources.replay_lua
        case .swapProviderToken: PackageResources.swap_provider_token_lua
        case .heartbeat: PackageResources.heartbeat_lua
        case .initFarm: PackageResources.init_farm_lua
        case .operate: PackageResources.operate_lua
        case .addEvent: PackageResources.add_event_lua
        case .alert: PackageResources.alert_lua
        }
    }
}
