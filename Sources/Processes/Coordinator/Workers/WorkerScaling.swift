import EventLoop
import FarmConfiguration
import FarmPolicy

/// Starts and ends workers until their number is the number that an operator, the configuration or the autoscaler has
/// chosen.
///
/// New workers get their shards when all new workers are ready. Surplus workers release their shards, then end. Until
/// the surplus workers have ended, the autoscaler does not change the number again.
@Loop final class WorkerScaling {
    private unowned let context: HostContext
    /// Chooses the number of workers; nil if the number is fixed by the configuration or an operator.
    private var autoscaler: Autoscaler?
    /// Workers that end as soon as they have released all their shards.
    private var retired: Set<Int> = []

    init(_ context: HostContext) {
        self.context = context
        let options = context.options
        autoscaler = options.isAuto ? Autoscaler(most: options.workers) : nil
    }

    var isAuto: Bool { autoscaler != nil }
    /// How many workers the coordinator runs at its start.
    var firstSize: Int { autoscaler?.workers ?? context.options.workers }
    /// The maximum number of workers that this host runs: the autoscaler's maximum, or the fixed number. The host's
    /// share of the farm's shards grows with this value.
    var capacity: Int { autoscaler?.most ?? context.shards.placement.size }

    /// The maximum number of workers that an operator can set.
    var mostWorkers: Int {
        let options = context.options
        let configured = context.configuration.workers.count(processors: options.processors)
        return DesiredWorkers.most(
            processors: options.processors, memory: options.memory,
            configured: max(options.workers, configured))
    }

    /// The maximum number of workers that the autoscaler starts.
    var mostAuto: Int { min(context.options.processors, mostWorkers) }

    /// The number of workers that the configuration asks for.
    var configured: DesiredWorkers { Self.desired(context.configuration.workers) }

    static func desired(_ count: WorkerCount) -> DesiredWorkers {
        switch count {
        case .auto: .auto
        case .fixed(let number): .fixed(number)
        }
    }

    // MARK: Deciding

    /// Lets the autoscaler change the number of workers. If a new worker cannot start, returns to the previous number.
    /// Call this function with every heartbeat.
    func evaluate() {
        guard !context.lifecycle.isStopping else { return }
        let placement = context.shards.placement
        let newSlots = context.fleet.slots[placement.active..<max(placement.active, placement.size)]
        if newSlots.contains(where: { $0.child.state == .failed }) {
            let stayed = autoscaler?.stay(at: placement.active, now: .now)
            return carryOut(
                stayed ?? Autoscaler.Change(from: placement.size, to: placement.active, reason: .unstartable))
        }
        endRetiredWorkers()
        guard autoscaler != nil else { return }
        let isChanging =
            placement.size != placement.active
            || context.fleet.slots.prefix(placement.size).contains {
                !$0.child.isReady && $0.child.state != .failed
            }
            || context.fleet.slots.dropFirst(placement.size).contains { $0.child.pid > 0 }
            || placement.isDisturbed
        let reading = isChanging ? nil : self.reading
        if let change = autoscaler?.evaluate(reading, at: .now) { carryOut(change) }
    }

    private var reading: Autoscaler.Reading {
        let workers = context.fleet.slots.prefix(context.shards.placement.size)
        return Autoscaler.Reading(
            busy: workers.reduce(0) { $0 + $1.busy },
            waiting: context.admission.batches - workers.reduce(0) { $0 + Int($1.heartbeat.batches) },
            rate: Double(workers.reduce(0) { $0 &+ $1.rate }))
    }

    /// Applies the number of workers that an operator or the configuration sets.
    func set(_ desired: DesiredWorkers) {
        switch desired {
        case .auto:
            guard autoscaler == nil else { return }
            let size = context.shards.placement.size
            autoscaler = Autoscaler(most: mostAuto, workers: size)
            context.log.notice(
                "the autoscaler chooses the number of workers", metadata: ["most": "\(mostAuto)"])
            if size > mostAuto { resize(to: mostAuto) }
        case .fixed(let number):
            autoscaler = nil
            if number > mostWorkers {
                context.log.warning(
                    "the number of workers is limited by this machine",
                    metadata: ["wanted": "\(number)", "most": "\(mostWorkers)"])
            }
            resize(to: min(number, mostWorkers))
        }
    }

    /// Changes the number of workers after a signal. The number is not stored in Redis, so it ends with this process.
    func change(by step: Int) { set(.fixed(changed(by: step))) }

    func changed(by step: Int) -> Int { min(max(1, context.shards.placement.size + step), mostWorkers) }

    private func resize(to number: Int) {
        let size = context.shards.placement.size
        guard number != size else { return }
        carryOut(Autoscaler.Change(from: size, to: number, reason: .operator))
    }

    // MARK: Acting

    private func carryOut(_ change: Autoscaler.Change) {
        context.log.notice(
            change.to > change.from ? "more workers" : "fewer workers",
            metadata: ["from": "\(change.from)", "to": "\(change.to)", "reason": "\(change.reason.rawValue)"])
        for app in context.apps.all {
            app.announce(
                .workersScaled,
                [
                    "host": context.host, "from": "\(change.from)", "to": "\(change.to)",
                    "reason": change.reason.rawValue,
                ])
        }
        if change.to > change.from {
            addSlots(upTo: change.to)
            context.shards.resize(to: change.to)
            for slot in context.fleet.slots[change.from..<change.to] {
                retired.remove(slot.index)
                slot.child.startAgain()
            }
        } else {
            for slot in context.fleet.slots[change.to..<change.from] {
                slot.child.retire()
                retired.insert(slot.index)
            }
            context.shards.resize(to: change.to)
            endRetiredWorkers()
        }
        context.changes.signal()
    }

    private func addSlots(upTo count: Int) {
        guard context.fleet.intake != nil else { return }
        context.fleet.addSlots(upTo: count)
        context.apps.setWorkers(max(count, context.options.workers))
    }

    /// Ends retired workers that have released all their shards.
    func endRetiredWorkers() {
        for index in retired where context.shards.isEmpty(index) {
            retired.remove(index)
            Loop.task { await self.context.fleet.slots[index].child.stop(within: .seconds(20)) }
        }
    }
}
