import EventLoop
import FarmPolicy

/// Collects the observations for alerts about this host, the farm, and the apps whose intake is on this host.
@Loop final class AlertObservations {
    private unowned let context: HostContext
    typealias Observation = AlertEvaluator.Observation

    /// How many leases this host has lost since its start, and when it lost the last of these leases.
    private var lastLoss: (count: Int, at: ContinuousClock.Instant?) = (0, nil)

    init(_ context: HostContext) { self.context = context }

    /// Evaluates all alerts. Call this function once a second.
    func evaluate() {
        for app in context.apps.all { app.context.totals.tick(at: .now) }
        // During an upgrade, the host has two coordinators. Only the coordinator with the host's name sends alerts.
        guard context.lifecycle.actsForHost else { return }
        context.alerts.evaluate(
            observations(at: .now), scopes: scopes, clock: context.redis.clock.milliseconds)
    }

    /// The scopes of this host: the apps whose intake is on this host, the host, and, on the first live host, the
    /// farm.
    private var scopes: Set<Alert.Scope> {
        var scopes: Set<Alert.Scope> = [.host(context.host)]
        for app in context.apps.all where app.isWatched(isFirstHost: context.registration.isFirstHost) {
            scopes.insert(.app(app.name))
        }
        if context.registration.isFirstHost { scopes.insert(.farm) }
        return scopes
    }

    private func observations(at now: ContinuousClock.Instant) -> [Alert: Observation] {
        var observations: [Alert: Observation] = [:]
        for app in context.apps.all {
            let observer = AppAlertObserver(app: app, settings: context.configuration.alerts)
            let found = observer.observe(
                context.backlog.readings[app.name], heartbeats: context.fleet.heartbeats(of: app.name),
                intake: context.fleet.intakeNumbers(of: app.name), at: now)
            for (kind, observation) in found { observations[Alert(kind, .app(app.name))] = observation }
        }
        observeWorkers(now, &observations)
        observeLeases(now, &observations)
        if context.registration.isFirstHost { observeFarm(&observations) }
        return observations
    }

    private func observeWorkers(_ now: ContinuousClock.Instant, _ observations: inout [Alert: Observation]) {
        let scope = Alert.Scope.host(context.host)
        for slot in context.fleet.presentSlots(of: context.shards.placement.size) {
            let isBad =
                slot.child.state == .failed || slot.child.state == .backingOff
                || context.workerEnds.isInCrashLoop(slot.index, at: now)
            let text =
                slot.child.state == .failed
                ? "worker \(slot.index) of \(context.host) was given up"
                : "worker \(context.host)/\(slot.index) keeps crashing"
            observations[Alert(.workerCrashLoop, scope, subject: "\(slot.index)")] =
                isBad ? .bad(level: 1, text: text) : .good
        }
        guard let intake = context.fleet.intake else { return }
        let isBad = intake.child.state == .backingOff || intake.child.state == .failed
        observations[Alert(.workerCrashLoop, scope, subject: "intake")] =
            isBad ? .bad(level: 1, text: "the intake of \(context.host) keeps crashing") : .good
    }

    private func observeLeases(_ now: ContinuousClock.Instant, _ observations: inout [Alert: Observation]) {
        let lost = context.leases.lost
        if lost > lastLoss.count { lastLoss = (lost, now) }
        let isRecent = lastLoss.at.map { $0.duration(to: now) < .seconds(30) } ?? false
        observations[Alert(.leaseLost, .host(context.host))] =
            isRecent
            ? .bad(level: 1, text: "\(context.host) has lost leases, \(lost) since its start") : .good
    }

    private func observeFarm(_ observations: inout [Alert: Observation]) {
        if let memory = context.admission.memory, memory.limit > 0 {
            let share = Double(memory.used) * 100 / Double(memory.limit)
            observations[Alert(.redisFull, .farm)] = .above(
                Double(context.configuration.alerts.redisMemory), share,
                text: "Redis uses \(Int(clamping: share)) % of its memory")
        } else {
            observations[Alert(.redisFull, .farm)] = .unclear
        }
        observations[Alert(.strayInbox, .farm)] = context.unknownApps.alertObservation
        for host in context.missingHosts.names {
            observations[Alert(.hostGone, .farm, subject: host)] = .bad(
                level: 1, text: "host \(host) is gone")
        }
    }
}
