import ControlChannel
import EventLoop
import FarmConfiguration
import FarmPolicy
import FarmStore
import Logging

/// Leases, and which worker serves what.
extension Coordinator {
    /// Renews all leases in time, and looks after some when there is reason to.
    func keepLeasesOn() async {
        while !Task.isCancelled {
            let now = ContinuousClock.now
            if leaseRounds.isRenewalDue(at: now) {
                await keepLeases()
            } else {
                for app in apps.values where app.leases.isDue(at: now) { _ = await app.leases.keep() }
            }
            let isPressing = apps.values.contains { $0.leases.isDue(at: .now) }
            await leaseBell.wait(atMost: leaseRounds.pause(isPressing: isPressing, at: .now))
        }
    }

    func keepLeases() async {
        leaseRounds.begin(at: .now)
        let start = BootClock.milliseconds
        let isConfirmed = await keepAll()
        switch leaseRounds.ended(
            isConfirmed: isConfirmed, from: start, to: BootClock.milliseconds, at: .now)
        {
        case .granted(let end): for slot in slots { slot.tell(.lease(end: end)) }
        case .pending: break
        case .expired: for app in apps.values { app.leases.expire() }
        }
    }

    /// Several apps at once, so that one which has much to take back holds the others up little.
    ///
    /// - Returns: whether all is confirmed that workers may serve: an app that Redis refuses has nothing left.
    private func keepAll() async -> Bool {
        let all = Array(apps.values)
        var isConfirmed = true
        for first in stride(from: 0, to: all.count, by: Self.appsAtOnce) {
            let some = all[first..<min(first + Self.appsAtOnce, all.count)]
            let rounds = some.map { app in Loop.task { await app.leases.keep() } }
            for round in rounds where await round.value == .pending { isConfirmed = false }
        }
        return isConfirmed
    }

    private static let appsAtOnce = 16

    /// Leases that were lost or have run out since the start.
    var leasesLost: Int { apps.values.reduce(leasesLostBefore) { $0 + $1.leases.lost } }

    func renewSoon() {
        leaseRounds.renewSoon(at: .now)
        leaseBell.ring()
    }

    func assign(_ app: HostedApp, to slot: WorkerSlot) {
        let shards =
            bereaved.contains(slot.index) || !placement.serves(slot.index) || !app.mayServe(slot.name)
            ? []
            : app.shards { shard in
                placement.place(of: shard) == slot.index && !app.holds.withheld.contains(shard)
                    && !quarantine.holds(.init(app: app.name, number: shard), at: .now)
            }
        let given = assignments.give(shards.map { Int($0.number) }, of: app.name, to: slot.index)
        app.noteBudget(given)
        slot.tell(.shards(app: app.name, shards.filter { given.contains(Int($0.number)) }))
    }

    /// Whom to ask about a shard: who has it, else who is to have it.
    func worker(of shard: Int, _ app: HostedApp) -> Int {
        assignments.holder(of: shard, app: app.name) ?? placement.place(of: shard)
    }

    func ring(_ app: String, _ shards: [Int]) {
        heardShards.note(shards, .ready, app: app)
        tellOfShards()
    }

    /// Tells each worker of those of its shards that were heard of. One that does not read its orders is told later.
    func tellHeardShards() {
        for (topic, app, shards) in heardShards.takeAll() {
            for slot in slots where slot.isReady {
                let its = shards.filter { placement.place(of: $0) == slot.index }
                guard !its.isEmpty else { continue }
                guard !slot.lags else {
                    heardShards.note(its, topic, app: app)
                    continue
                }
                let numbers = its.compactMap { UInt16(exactly: $0) }
                switch topic {
                case .ready: slot.tell(.ring(app: app, shards: numbers))
                case .suppressed: slot.tell(.suppressed(app: app, shards: numbers))
                }
            }
        }
    }

    var liveWorkers: [String] { slots.filter { $0.pid > 0 }.map(\.name) }

    func sweep() async {
        for app in apps.values { await app.sweep() }
    }

    /// Gives back what is leaving and in no worker's hands: its worker has none, is quiet, or let go of it long ago.
    func letGo(_ app: HostedApp) {
        emptied(app, app.leases.leaving.filter { assignments.holder(of: $0, app: app.name) == nil })
    }

    func emptied(_ app: HostedApp, _ shards: some Sequence<Int>) {
        defer { changes.ring() }
        guard app.leases.emptied(shards) else { return }
        // The next ones follow at once: with one lot a beat, half of the shards would take as many seconds.
        if isHandingOver { handOverSome(app) } else { handOverOthers(app) }
        leaseBell.ring()
    }

    /// Begins to give others what should be theirs, when nothing has changed among the hosts for a while. What nobody serves
    /// here goes at once.
    func handOverOthers(_ app: HostedApp) {
        guard !isStopping, isQuiet || membership.isSettled(at: .now) else { return }
        app.leases.handOverOthers()
    }
}

extension Coordinator: WorkerSlot.Owner {
    func started(_ slot: WorkerSlot) {
        slot.tell(
            .begin(
                redis: options.redisURL, redisAuthority: options.redisAuthority, worker: slot.name,
                index: UInt16(slot.index)))
        for app in apps.values {
            for order in app.credentials.orders { slot.tell(order) }
        }
        slot.tell(.lease(end: leaseRounds.clock.end))
        if let logLevel { slot.tell(.logLevel(logLevel)) }
    }

    func noticed(_ notice: Notice, _ slot: WorkerSlot) {
        switch notice {
        case .hello:
            for app in apps.values { assign(app, to: slot) }
            makeRoom()
            tellSoon()
        case .beat(let beat):
            for app in beat.apps { apps[app.name]?.context.totals.heard(app) }
            if beat.isQuiet { processIsQuiet(slot) }
        case .reported(let name): apps[name]?.workerReported()
        case .doubt(let name, let doubt, let generation, let reason):
            Loop.task {
                await self.apps[name]?.credentials.doubt(doubt, generation: generation, reason: reason)
            }
        case .proved(let name, let generation): apps[name]?.credentials.proved(generation: generation)
        case .fenced(let name):
            apps[name]?.leases.doubt()
            leaseBell.ring()
        case .feedback(let name, let reading, let tuples, let error):
            Loop.task {
                await self.apps[name]?.feedback.ended(reading, tuples: Int(clamping: tuples), error: error)
            }
        case .late(let name, let pushes, let reason): apps[name]?.tellOfLateReply(pushes, reason)
        case .released(let name, let shards):
            if let app = apps[name] { released(shards.map { Int($0) }, of: app, by: slot) }
        }
        changes.ring()
    }

    /// What the worker had is taken back, and held against the pushes that it had in the air if they may have ended it.
    func ended(_ slot: WorkerSlot, name: String, cause: EndCause) async {
        bereaved.insert(slot.index)
        if cause != .orderly { crashLoops[slot.index, default: CrashLoop()].ended(at: .now) }
        var accused: [ShardQuarantine.Shard] = []
        var isKnown = true
        if cause != .orderly {
            for app in apps.values {
                if let shards = await app.accused(by: name) { accused += shards } else { isKnown = false }
            }
        }
        let loss = loss(cause, hadSent: !accused.isEmpty ? true : isKnown ? false : nil)
        var poisoned = 0
        for app in apps.values { poisoned += await app.reclaim(from: name, loss) }
        if poisoned > 0 { kills.explain() }
        bereaved.remove(slot.index)
        for app in apps.values {
            emptied(app, app.leases.leaving.filter { worker(of: $0, app) == slot.index })
        }
        assignments.ended(slot.index)
        if quietBySignal.remove(slot.index) != nil { placement.wake(slot.index) }
        reassign()
        dismiss()
        changes.ring()
        if cause == .crash { setAside(accused) }
        for app in apps.values { await app.feedback.workerEnded(name) }
    }

    /// A signal has made the process quiet, one way: the others serve its shards until another process is here.
    private func processIsQuiet(_ slot: WorkerSlot) {
        guard !placement.isQuiet(slot.index) else { return }
        quietBySignal.insert(slot.index)
        placement.hush(slot.index)
        reassign()
    }

    /// - Parameter hadSent: nil when that is unknown: then no job is blamed.
    private func loss(_ cause: EndCause, hadSent: Bool?) -> WorkerLoss {
        let recent = cause == .kill ? kills.add(at: .now) : 0
        guard let hadSent else { return .innocent }
        return switch cause {
        case .orderly: .innocent
        case .crash: .crash(hadSent: hadSent)
        case .kill: .kill(hadSent: hadSent, recent: recent)
        }
    }

    /// Shards that are in crash after crash wait, so that the slot's other shards go on.
    private func setAside(_ shards: [ShardQuarantine.Shard]) {
        for (shard, duration, crashes) in quarantine.crashed(shards, at: .now) {
            log.error(
                "shard set aside: its pushes were in the air in every crash",
                metadata: [
                    "app": "\(shard.app)", "shard": "\(shard.number)", "crashes": "\(crashes)",
                    "for": "\(duration)",
                ])
            guard let app = apps[shard.app] else { continue }
            app.tellOfQuarantine(shard.number, duration, crashes)
            Loop.task {
                try await Loop.sleep(for: duration)
                self.reassign()
            }
        }
    }

    /// Lets all shards go on that were set aside.
    func release() {
        guard !quarantine.isEmpty else { return }
        quarantine.release()
        reassign()
    }

    func reassign() {
        for app in apps.values {
            for slot in slots where slot.isReady { assign(app, to: slot) }
        }
    }

    func introduce(_ app: HostedApp, to slot: WorkerSlot) {
        for order in app.credentials.orders { slot.tell(order) }
        assign(app, to: slot)
    }
}
