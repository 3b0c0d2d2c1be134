import ControlChannel
import EventLoop
import FarmConfiguration
import FarmPolicy
import StoreProtocol

/// Collects the observations for the alerts of one app.
@Loop struct AppAlertObserver {
    typealias Observation = AlertEvaluator.Observation

    let app: HostedApp
    /// The thresholds at which alerts fire.
    let settings: AlertSettings

    private var name: String { app.name }

    /// - Parameters:
    ///   - heartbeats: the app's numbers in each worker's last heartbeat.
    ///   - intake: the app's numbers in the intake's last heartbeat.
    func observe(
        _ reading: BacklogMonitor.Reading?, heartbeats: [WorkerNotice.Heartbeat.App],
        intake: IntakeNotice.Heartbeat.App?, at now: ContinuousClock.Instant
    ) -> [Alert.Kind: Observation] {
        [
            .appPaused: paused,
            .backlogAge: reading?.backlog.map(backlogAge) ?? .unclear,
            .refusedJobs: reading?.backlog.map(refusedJobs) ?? .unclear,
            .keyType: reading?.faults.map(keyType) ?? .unclear,
            .unreadable: reading?.faults.map(unreadable) ?? .unclear,
            .badTokens: reading?.guarded.map { badTokens($0.counts, waiting: $0.waiting) } ?? .unclear,
            .campaignPaused: reading?.stoppedCampaigns.map(campaignPaused) ?? .unclear,
            .campaignLate: intake.map { campaignLate($0.campaigns) } ?? .unclear,
            .registryUnreachable: intake.map { registryUnreachable($0.devices, at: now) } ?? .unclear,
            .errorShare: errorShare(at: now),
            .gatewayStalled: gatewayStalled(heartbeats),
            .credentialExpiring: Self.expiry(of: app, now: WallClock.seconds),
        ]
    }

    private var paused: Observation {
        app.credentials.pauseReason.map { .bad(level: 1, text: "\(name) is paused: \($0)") } ?? .good
    }

    private func backlogAge(_ reading: BacklogReading) -> Observation {
        let age = reading.ages.oldest.map { $0 / .seconds(1) } ?? 0
        return .above(
            Double(settings.backlogAge), age,
            text: "\(name): the oldest push has waited \(Self.words(seconds: Int(clamping: age)))")
    }

    private func refusedJobs(_ reading: BacklogReading) -> Observation {
        .above(
            Double(settings.refusedJobs), Double(reading.refusedLastMinute),
            text:
                "\(name): \(reading.refusedLastMinute) jobs were refused in the last minute, see pushfarm refused list"
        )
    }

    private func keyType(_ faults: FindDamage.Reply) -> Observation {
        faults.wrongTypes.first.map {
            .bad(level: 1, text: "\(name) stands still: the Redis key \($0.text)")
        } ?? .good
    }

    private func unreadable(_ faults: FindDamage.Reply) -> Observation {
        let words = faults.unreadableWords
        return words.isEmpty ? .good : .bad(level: 1, text: "\(name): \(words.joined(separator: "; "))")
    }

    private func badTokens(_ counts: ReadGuard.Reply, waiting: Int) -> Observation {
        guard counts.holdsUnconfirmed || waiting > 0 else { return .good }
        return .bad(
            level: 1,
            text: "\(name): \(counts.percent) % of the last responses were for bad tokens; \(waiting) "
                + "suppressions await pushfarm suppressed confirm or discard")
    }

    private func campaignPaused(_ stopped: [ReadPauses.Item]) -> Observation {
        guard let first = stopped.first else { return .good }
        let others = stopped.count > 1 ? "; \(stopped.count - 1) more campaigns are paused" : ""
        return .bad(
            level: 1, text: "\(name): campaign \(first.text.prefix(64)) is paused, \(first.reason)\(others)")
    }

    private func campaignLate(_ campaigns: IntakeNotice.Heartbeat.CampaignNumbers) -> Observation {
        guard campaigns.late > 0 else { return campaigns.isUnclear ? .unclear : .good }
        let others = campaigns.late > 1 ? "; \(campaigns.late - 1) more campaigns are late" : ""
        return .bad(
            level: 1,
            text:
                "\(name): campaign \(campaigns.firstLate.prefix(64)) is late: \(campaigns.shortfall)\(others)"
        )
    }

    private func registryUnreachable(
        _ devices: IntakeNotice.Heartbeat.Devices, at now: ContinuousClock.Instant
    ) -> Observation {
        // An outage of the farm's own Redis has other alerts.
        let isDown = app.configuration.registry != nil && !devices.isRegistryUp
        guard app.registryOutage.note(isDown, at: now) else { return isDown ? .unclear : .good }
        return .bad(
            level: 1,
            text:
                "\(name): the Redis with the stored devices does not reply; campaigns, device inputs and jobs with users or "
                + "devices wait")
    }

    private func errorShare(at now: ContinuousClock.Instant) -> Observation {
        let (responses, errors) = app.context.totals.responses
        let share = app.errorShare.add(responses: responses, errors: errors, at: now) ?? 0
        return .above(
            Double(settings.errorShare), share,
            text: "\(name): \(Int(clamping: share)) % of the last minute's responses were errors")
    }

    private func gatewayStalled(_ heartbeats: [WorkerNotice.Heartbeat.App]) -> Observation {
        if let trouble = heartbeats.lazy.map(\.trouble).first(where: { !$0.isEmpty }) {
            return .bad(
                level: 1, text: "\(name): the gateway, or a proxy, responds to every push with \(trouble)")
        }
        return heartbeats.contains(where: \.isStalled)
            ? .bad(level: 1, text: "\(name): the gateway connects, but responds to no push") : .good
    }

    /// Checks when the app's certificate expires. The alert has level 1 in the last 30 days before this time, level 2
    /// in the last 7 days, and level 3 in the last day.
    static func expiry(of app: HostedApp, now: Int64) -> AlertEvaluator.Observation {
        guard let end = app.credentials.files.expiresAt else { return .good }
        let days = Double(end - now) / 86_400
        let level = days <= 1 ? 3 : days <= 7 ? 2 : days <= 30 ? 1 : 0
        guard level > 0 else { return .good }
        let words =
            days <= 0 ? "has expired" : "expires in \(Self.words(seconds: Int(end - now)))"
        return .bad(level: level, text: "\(app.name): its certificate \(words)")
    }

    static func words(seconds: Int) -> String {
        switch seconds {
        case ..<120: "\(seconds) s"
        case ..<7200: "\(seconds / 60) min"
        case ..<172_800: "\(seconds / 3600) h"
        default: "\(seconds / 86_400) days"
        }
    }
}
