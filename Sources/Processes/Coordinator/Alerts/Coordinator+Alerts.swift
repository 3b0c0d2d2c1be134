import EventLoop
import FarmPolicy
import FarmStore
import PushModel
import Supervision

/// What this host evaluates for alerts.
extension Coordinator {
    func makeAlerts() -> AlertMonitor {
        AlertMonitor(configuration.alerts, host: configuration.host, registry: registry, log: log) {
            [unowned self] app, event in
            guard let app = apps[app] else { return }
            app.store.send(TellEvent(event)) { _ in }
        }
    }

    /// To be called once a second.
    func lookForAlerts() {
        for app in apps.values { app.context.totals.tick(at: .now) }
        // Of two coordinators of a host, one tells.
        guard !isStopping, !isSucceeding, !isSucceeded, let alerts else { return }
        let clock = redis.clock.milliseconds
        alerts.look(sights(at: .now), scopes: alertScopes, clock: clock)
    }

    /// Apps whose intake is here; this host; and the farm, at the first of the hosts that live.
    private var alertScopes: Set<Alert.Scope> {
        var scopes: Set<Alert.Scope> = [.host(configuration.host)]
        for app in apps.values where app.isWatched(isFirstHost: isFirstHost) {
            scopes.insert(.app(app.name))
        }
        if isFirstHost { scopes.insert(.farm) }
        return scopes
    }

    /// Of the hosts that live, this one does what one host does for the farm.
    var isFirstHost: Bool { membership.hosts.first?.name == configuration.host }

    private func sights(at now: ContinuousClock.Instant) -> [Alert: AlertEvaluator.Observation] {
        var sights: [Alert: AlertEvaluator.Observation] = [:]
        for app in apps.values { look(at: app, now, &sights) }
        lookAtHost(now, &sights)
        if isFirstHost { lookAtFarm(&sights) }
        return sights
    }

    // MARK: Apps

    private func look(
        at app: HostedApp, _ now: ContinuousClock.Instant, _ sights: inout [Alert: AlertEvaluator.Observation]
    ) {
        let (name, marks) = (app.name, configuration.alerts)
        func set(_ kind: Alert.Kind, _ sight: AlertEvaluator.Observation) {
            sights[Alert(kind, .app(name))] = sight
        }
        set(
            .appPaused,
            app.credentials.pauseReason.map { .bad(level: 1, text: "\(name) is paused: \($0)") } ?? .good)
        if let reading = appWatch.readings[name] {
            let age = reading.ages.oldest.map { $0 / .seconds(1) } ?? 0
            set(
                .backlogAge,
                .above(
                    Double(marks.backlogAge), age,
                    text: "\(name): the oldest push has waited \(Self.words(seconds: Int(clamping: age)))"))
            set(
                .refusedJobs,
                .above(
                    Double(marks.refusedJobs), Double(reading.refusedLastMinute),
                    text:
                        "\(name): \(reading.refusedLastMinute) jobs were refused in the last minute, see pushfarm refused list"
                ))
        } else {
            set(.backlogAge, .unclear)
            set(.refusedJobs, .unclear)
        }
        if let faults = appWatch.faults[name] {
            set(
                .keyType,
                faults.wrongTypes.first.map {
                    .bad(level: 1, text: "\(name) stands still: the Redis key \($0.text)")
                } ?? .good)
            let words = faults.unreadableWords
            set(
                .unreadable,
                words.isEmpty
                    ? .good : .bad(level: 1, text: "\(name): \(words.joined(separator: "; "))"))
        } else {
            set(.keyType, .unclear)
            set(.unreadable, .unclear)
        }
        if let (counts, waiting) = appWatch.guards[name] {
            let isBad = counts.isHolding || waiting > 0
            set(
                .badTokens,
                isBad
                    ? .bad(
                        level: 1,
                        text: "\(name): \(counts.percent) % of the last answers were bad tokens; \(waiting) "
                            + "suppressions wait for pushfarm suppressed confirm or discard") : .good)
        } else {
            set(.badTokens, .unclear)
        }
        let (answers, errors) = app.context.totals.answers
        let share = app.errorShare.add(answers: answers, errors: errors, at: now)
        set(
            .errorShare,
            .above(
                Double(marks.errorShare), share ?? 0,
                text: "\(name): \(Int(clamping: share ?? 0)) % of the last minute's answers were errors"))
        let beats = slots.flatMap { $0.beat.apps.filter { $0.name == name } }
        let trouble = beats.lazy.map(\.trouble).first { !$0.isEmpty }
        set(
            .gatewayStalled,
            trouble.map {
                .bad(level: 1, text: "\(name): the gateway, or a proxy, answers every push with \($0)")
            }
                ?? (beats.contains(where: \.isStalled)
                    ? .bad(level: 1, text: "\(name): the gateway takes connections, and responds to no push")
                    : .good))
        set(.credentialExpiring, Self.expiry(of: app, now: WallClock.seconds))
    }

    /// 30 days before the end, 7 days, 1 day: each is worse than the one before.
    static func expiry(of app: HostedApp, now: Int64) -> AlertEvaluator.Observation {
        guard let end = app.credentials.expiresAt else { return .good }
        let days = Double(end - now) / 86_400
        let level = days <= 1 ? 3 : days <= 7 ? 2 : days <= 30 ? 1 : 0
        guard level > 0 else { return .good }
        let words =
            days <= 0 ? "has expired" : "expires in \(Self.words(seconds: Int(end - now)))"
        return .bad(level: level, text: "\(app.name): its certificate \(words)")
    }

    // MARK: This host

    private func lookAtHost(
        _ now: ContinuousClock.Instant, _ sights: inout [Alert: AlertEvaluator.Observation]
    ) {
        let host = Alert.Scope.host(configuration.host)
        for slot in slots where slot.index < placement.size || slot.pid > 0 {
            let isBad =
                slot.state == .failed || slot.state == .backingOff
                || crashLoops[slot.index]?.isOn(at: now) == true
            let text =
                slot.state == .failed
                ? "worker \(slot.index) of \(configuration.host) was given up"
                : "worker \(configuration.host)/\(slot.index) keeps crashing"
            sights[Alert(.workerCrashLoop, host, subject: "\(slot.index)")] =
                isBad ? .bad(level: 1, text: text) : .good
        }
        if let intake {
            let isBad = intake.state == .backingOff || intake.state == .failed
            sights[Alert(.workerCrashLoop, host, subject: "intake")] =
                isBad
                ? .bad(level: 1, text: "the intake of \(configuration.host) keeps crashing") : .good
        }
        let lost = leasesLost
        if lost > lastLoss.count { lastLoss = (lost, now) }
        let isRecent = lastLoss.at.map { $0.duration(to: now) < .seconds(30) } ?? false
        sights[Alert(.leaseLost, host)] =
            isRecent
            ? .bad(level: 1, text: "\(configuration.host) has lost leases, \(lost) since its start") : .good
    }

    // MARK: The farm

    private func lookAtFarm(_ sights: inout [Alert: AlertEvaluator.Observation]) {
        if let memory = pressure.memory, memory.limit > 0 {
            let share = Double(memory.used) * 100 / Double(memory.limit)
            sights[Alert(.redisFull, .farm)] = .above(
                Double(configuration.alerts.redisMemory), share,
                text: "Redis uses \(Int(clamping: share)) % of its memory")
        } else {
            sights[Alert(.redisFull, .farm)] = .unclear
        }
        lookAtInboxes(&sights)
        for host in goneHosts {
            sights[Alert(.hostGone, .farm, subject: host)] = .bad(level: 1, text: "host \(host) is gone")
        }
    }

    /// Who is missing, and what is raised that nobody is there for any more. To be called every few seconds.
    func lookForGoneHosts() async {
        guard isFirstHost, let alerts, !isStopping, !isSucceeding, !isSucceeded else { return }
        do throws(RedisError) {
            // A line ends six seconds after its last beat; who has gone in order has taken it out.
            let lines = try await registry.hosts()
            let gone = lines.filter { $0.endsIn < .seconds(-3) }
            (goneHosts, lostApps) = (gone.map(\.name), Set(gone.flatMap(\.apps)))
            // A drained host names no apps, but its own are not gone with it.
            let (present, served) = (
                Set(membership.hosts.map(\.name)), Set(membership.hosts.flatMap(\.apps)).union(apps.keys)
            )
            for raised in try await registry.raisedAlerts() {
                guard let alert = Alert(id: raised.id) else { continue }
                let isOrphan =
                    switch alert.scope {
                    case .app(let name): !served.contains(name)
                    case .host(let name): !present.contains(name)
                    case .farm: false
                    }
                if isOrphan { alerts.bury(alert, raised, clock: redis.clock.milliseconds) }
            }
        } catch {
            // The next look is in a few seconds.
        }
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

extension AppTotals {
    /// What the gateway said so far, and how much of it were errors. That a device is gone is none.
    var answers: (all: UInt64, errors: UInt64) {
        var (all, errors): (UInt64, UInt64) = (0, 0)
        for (outcome, count) in outcomes {
            switch outcome.kind {
            case .delivered: all += count
            case .failed where FarmReason(rawValue: outcome.reason) == .suppressed: continue
            case .failed:
                all += count
                if !["Unregistered", "ExpiredToken"].contains(outcome.reason) { errors += count }
            case .expired, .cancelled: continue
            }
        }
        for (cause, count) in retries where cause != .cooling {
            all += count
            errors += count
        }
        return (all, errors)
    }
}
