import ControlChannel
import EventLoop
import FarmPolicy
import FarmStore
import Logging

/// How many workers there are, and which of them serve: as operators say.
extension Coordinator {
    // MARK: scale

    func scale(_ text: String, _ isDry: Bool, _ operation: Operation) async throws(OperationRefusal) -> String
    {
        let wish = try self.wish(text)
        let now = staffing == nil ? "\(placement.size)" : "auto, \(placement.size) now"
        if isDry { return "would go from \(now) to \(wish.text)" }
        return try await alone("scale") { () async throws(OperationRefusal) in
            let kept = text == "default" ? nil : wish.text
            followedScale = kept
            let isKept = await keep("scale:" + configuration.host, kept)
            let note = isKept ? "" : "; not kept over a restart, for Redis is away"
            setStaff(wish, reason: .operator)
            awaken()
            guard case .fixed(let number) = wish else {
                return "as many as the load takes, at most \(mostAuto)" + note
            }
            let deadline = ContinuousClock.now + .seconds(60)
            let isDone = await changes.until(deadline) { [unowned self] in
                operation.progress("\(slots.count { $0.pid > 0 }) of \(number) workers")
                let isRight =
                    placement.size != number
                    || placement.seated == number && slots.prefix(number).allSatisfy(\.isReady)
                        && slots.dropFirst(number).allSatisfy { $0.pid == 0 }
                return isRight || isStopping
            }
            guard placement.size == number else {
                throw .failed("\(placement.size) workers: others do not start, see the log")
            }
            guard isDone else { throw .failed("not all workers are ready, or gone, after 60 s") }
            return "\(number) worker\(number == 1 ? "" : "s") (before: \(now))" + note
        }
    }

    /// `scale` also wakes stopped, drained and quiet workers.
    private func awaken() {
        if isQuiet, !isDrained { comeBack() }
        for slot in slots.prefix(placement.size) {
            if slot.state == .stopped, slot.pid == 0 { slot.startAnew() }
            placement.wake(slot.index)
        }
        reassign()
    }

    /// Stores what an operator wants to last; without Redis it lasts as long as this process.
    /// - Returns: whether it is stored.
    @discardableResult func keep(_ name: String, _ value: String?) async -> Bool {
        do throws(RedisError) {
            try await registry.desire(name, value)
            return true
        } catch {
            log.warning("not kept in Redis", metadata: ["wish": "\(name)", "error": "\(error)"])
            return false
        }
    }

    private func wish(_ text: String) throws(OperationRefusal) -> DesiredWorkers {
        if text == "default" { return configuredStaff }
        if let step = text.first, step == "+" || step == "-", let by = Int(foreign: text) {
            return .fixed(min(max(1, placement.size + by), mostWorkers))
        }
        guard let wish = DesiredWorkers(text) else {
            throw OperationRefusal(DesiredWorkers.complaint(text, most: mostWorkers))
        }
        if case .fixed(let number) = wish, number > mostWorkers {
            throw OperationRefusal(
                "this machine carries at most \(mostWorkers) workers (\(DesiredWorkers.workersPerProcessor) a processor, 64 MB each), unless its own configuration says more"
            )
        }
        return wish
    }

    var mostAuto: Int { min(options.processors, mostWorkers) }

    /// The signals' `scale`: of this process, and not kept.
    func scale(by step: Int) {
        setStaff(.fixed(min(max(1, placement.size + step), mostWorkers)), reason: .operator)
    }

    func setStaff(_ wish: DesiredWorkers, reason: Autoscaler.Reason) {
        switch wish {
        case .auto:
            guard staffing == nil else { return }
            staffing = Autoscaler(most: mostAuto, workers: placement.size)
            log.notice("as many workers as the load takes", metadata: ["most": "\(mostAuto)"])
            if placement.size > mostAuto { resize(to: mostAuto, reason) }
        case .fixed(let number):
            staffing = nil
            if number > mostWorkers {
                log.warning(
                    "more workers are wanted than this machine carries",
                    metadata: ["wanted": "\(number)", "most": "\(mostWorkers)"])
            }
            resize(to: min(number, mostWorkers), reason)
        }
    }

    private func resize(to number: Int, _ reason: Autoscaler.Reason) {
        guard number != placement.size else { return }
        carryOut(Autoscaler.Change(from: placement.size, to: number, reason: reason))
    }

    // MARK: quiet, drain, stop

    func quiet(_ slot: WorkerSlot?, _ isDry: Bool, _ operation: Operation) async throws(OperationRefusal)
        -> String
    {
        let name = slot.map { "worker \($0.index)" } ?? "host \(configuration.host)"
        if isDry {
            let heirs = slot.map { hasOthers(than: $0) } ?? hasHeirs
            return "\(name) would take nothing more; its shards would "
                + (heirs ? "go to others that serve" : "wait: no other can serve them")
        }
        if let slot {
            guard slot.index < placement.size else { throw OperationRefusal("\(name) is leaving already") }
            let wasSo = placement.isQuiet(slot.index)
            quietBySignal.remove(slot.index)
            placement.hush(slot.index)
            reassign()
            _ = await changes.until(.now + .seconds(30)) { [unowned self] in assignments.isEmpty(slot.index) }
            if wasSo { return "\(name) was quiet already" }
            let shards = hasOthers(than: slot) ? "the others serve its shards" : "its shards wait"
            return "\(name) is quiet: \(shards); resume, restart or scale wakes it"
        }
        let wasSo = isQuiet
        beQuiet()
        let isIdle = await changes.until(.now + .seconds(30)) { [unowned self] in
            let left = slots.count { !assignments.isEmpty($0.index) }
            operation.progress("\(left) workers still wait for answers")
            return left == 0
        }
        guard isIdle else { throw .failed("pushes are still in the air after 30 s; nothing new is taken") }
        let isHandedOver = await changes.until(.now + HandOver.patience + .seconds(10)) { [unowned self] in
            let left = apps.values.reduce(0) { $0 + $1.leases.strangers }
            operation.progress("\(left) shards to go")
            return isKnownQuiet && left == 0 || !redis.isReady || !isQuiet || isStopping
        }
        guard isHandedOver else {
            throw .failed("\(name) is quiet, and keeps shards that others could serve")
        }
        return (wasSo ? "\(name) was quiet already; " : "\(name) is quiet; ") + quietShards
    }

    private var quietShards: String {
        let end = "resume \(configuration.host) ends that"
        guard apps.values.contains(where: \.leases.isOwner) else {
            return "its shards are with \(heirs). \(end)"
        }
        return redis.isReady
            ? "no other host can serve its shards: they wait. \(end)"
            : "its shards wait until Redis is back. \(end)"
    }

    /// The farm knows that this host serves nothing.
    private var isKnownQuiet: Bool {
        membership.hosts.contains { $0.name == configuration.host && $0.capacity == 0 }
    }

    /// Takes nothing more, until ``comeBack()``. What it has goes to hosts that serve, if there are any.
    func beQuiet() {
        guard !isQuiet else { return }
        log.notice("quiet: nothing more is taken")
        placement.isQuiet = true
        for app in apps.values { app.isQuiet = true }
        reassign()
        Loop.task {
            // Others learn first that this host serves nothing.
            await self.beat()
            self.registry.tell(HostCommand.hosts.text)
            for app in self.apps.values {
                self.handOverOthers(app)
                self.letGo(app)
            }
        }
    }

    var isQuiet: Bool { placement.isQuiet }

    // MARK: resume

    /// Ends what ``quiet(_:_:_:)`` and ``drain(_:_:_:)`` began.
    func resume(_ slot: WorkerSlot?, _ isDry: Bool) async throws(OperationRefusal) -> String {
        let host = configuration.host
        guard let slot else {
            guard isQuiet || isDrained else {
                let quiet = placement.quietPlaces.map { "worker \($0) is quiet: resume \(host)/\($0)" }
                return (["host \(host) takes part already"] + quiet).joined(separator: "; ")
            }
            if isDry { return "host \(host) would take part again" }
            comeBack()
            return "host \(host) takes part again"
        }
        let name = "worker \(slot.index)"
        guard slot.index < placement.size else { throw OperationRefusal("\(name) is leaving") }
        guard !isQuiet else { throw OperationRefusal("host \(host) is quiet as a whole: resume \(host)") }
        guard slot.state != .stopped, !quietBySignal.contains(slot.index) else {
            throw OperationRefusal("\(name) needs a new process: restart \(host)/\(slot.index)")
        }
        guard !placement.serves(slot.index) else { return "\(name) serves already" }
        if isDry { return "\(name) would serve again" }
        placement.wake(slot.index)
        reassign()
        return "\(name) serves again"
    }

    func drain(_ slot: WorkerSlot?, _ isDry: Bool, _ operation: Operation) async throws(OperationRefusal)
        -> String
    {
        if let slot { return try await drain(worker: slot, isDry, operation) }
        let heirs = heirs
        if isDry { return "would give all shards to \(heirs)" }
        if isDrained, !apps.values.contains(where: \.leases.isOwner) { return "drained already" }
        return try await alone("drain") { () async throws(OperationRefusal) in
            beDrained()
            let isEmpty = await changes.until(.now + HandOver.patience + .seconds(10)) { [unowned self] in
                let left = apps.values.reduce(0) { $0 + $1.leases.tokens.count }
                operation.progress("\(left) shards to go")
                return !apps.values.contains(where: \.leases.isOwner)
            }
            guard isEmpty else { throw .failed("not empty yet: pushes are still in the air") }
            return "empty; its shards are with \(heirs). reload brings it back"
        }
    }

    private var hasHeirs: Bool {
        membership.hosts.contains { $0.name != configuration.host && $0.capacity > 0 }
    }

    /// Who takes what this host gives away, in words.
    private var heirs: String {
        let others = membership.hosts.filter { $0.name != configuration.host && $0.capacity > 0 }.map(\.name)
        return others.isEmpty ? "nobody: pushes wait" : others.joined(separator: ", ")
    }

    /// Gives everything away, and stays. Others learn first that this host takes nothing more.
    func beDrained() {
        guard !isDrained else { return }
        log.notice("drained: everything goes to the other hosts")
        isDrained = true
        Loop.task {
            await self.beat()
            self.registry.tell(HostCommand.hosts.text)
            for app in self.apps.values { self.handOverAll(app) }
        }
    }

    /// Takes part again after ``beDrained()`` or ``beQuiet()``.
    func comeBack() {
        guard isDrained || isQuiet, !isStopping else { return }
        log.notice("takes part again")
        isDrained = false
        placement.isQuiet = false
        for app in apps.values {
            app.isQuiet = false
            app.leases.comeBack()
        }
        reassign()
        Loop.task {
            await self.beat()
            self.registry.tell(HostCommand.hosts.text)
            self.renewSoon()
        }
    }

    private func drain(
        worker slot: WorkerSlot, _ isDry: Bool, _ operation: Operation
    ) async throws(OperationRefusal) -> String {
        let index = slot.index
        guard index < placement.size else { throw OperationRefusal("worker \(index) is leaving already") }
        if isDry { return "worker \(index) would lend its shards to the others" }
        guard hasOthers(than: slot) else {
            throw OperationRefusal(
                "worker \(index) is the only one that serves: drain the host, or scale up first")
        }
        return try await alone("drain of worker \(index)") { () async throws(OperationRefusal) in
            try await empty(slot)
            return "worker \(index) is empty; resume, restart or scale wakes it"
        }
    }

    /// Another worker can serve what this one has.
    private func hasOthers(than slot: WorkerSlot) -> Bool {
        (0..<placement.seated).contains { $0 != slot.index && !placement.isResting($0) }
    }

    /// The others serve what it has, when nothing of it is in its hands any more.
    func empty(_ slot: WorkerSlot) async throws(OperationRefusal) {
        placement.rest(slot.index)
        reassign()
        let isEmpty = await changes.until(.now + .seconds(30)) { [unowned self] in
            assignments.isEmpty(slot.index) || isStopping
        }
        guard isEmpty else {
            placement.wake(slot.index)
            reassign()
            throw .failed("worker \(slot.index) still waits for answers after 30 s: it goes on")
        }
    }

    func stop(_ slot: WorkerSlot?, _ isDry: Bool, _ operation: Operation) async throws(OperationRefusal)
        -> String
    {
        guard let slot else {
            if isDry { return "would drain and end the coordinator, \(staffText)" }
            guard hasChildren else {
                // The answer first: there is nothing to be finished, and nobody to give it afterwards.
                Loop.task {
                    _ = await self.changes.until(.now + .seconds(5)) { operation.hasEnded }
                    self.stop()
                }
                return "ends before it was ready"
            }
            let heirs = heirs
            stop()
            let left = patience + .seconds(10)
            guard await changes.until(.now + left, { [unowned self] in hasFinished }) else {
                throw .failed("still ending after \(left.components.seconds) s")
            }
            return "has ended in order; its shards go to \(heirs)"
        }
        let index = slot.index
        if slot.state == .stopped, slot.pid == 0 { return "worker \(index) had ended already" }
        guard hasOthers(than: slot) else {
            throw OperationRefusal(
                "worker \(index) is the only one that serves: stop the host, or scale up first")
        }
        if isDry { return "worker \(index) would end" }
        return try await alone("stop of worker \(index)") { () async throws(OperationRefusal) in
            try await empty(slot)
            await slot.stop(within: .seconds(20))
            return "worker \(index) has ended; restart or scale starts it"
        }
    }

    var staffText: String { "\(placement.size) workers and the intake" }
}
