import EventLoop
import FarmPolicy
import FarmStore
import Logging

/// More and fewer workers, as ``Autoscaler`` or an operator says.
///
/// Those that come are started first, and get their shards when all of them are ready; those that go let go of their shards,
/// and end when nothing is in their hands. Meanwhile nothing else is decided.
extension Coordinator {
    /// Workers that this host can be told to run.
    var mostWorkers: Int {
        DesiredWorkers.most(
            processors: options.processors, memory: options.memory,
            configured: max(options.workers, configuration.workers.count(processors: options.processors)))
    }

    /// To be called every second.
    func lookAtStaff() {
        guard !isStopping else { return }
        let newcomers = slots[placement.seated..<max(placement.seated, placement.size)]
        if !newcomers.isEmpty, newcomers.contains(where: { $0.state == .failed }) {
            let stayed = staffing?.stay(at: placement.seated, now: .now)
            return carryOut(
                stayed ?? Autoscaler.Change(from: placement.size, to: placement.seated, reason: .unstartable))
        }
        dismiss()
        guard staffing != nil else { return }
        let isChanging =
            placement.size != placement.seated
            || slots.prefix(placement.size).contains { !$0.isReady && $0.state != .failed }
            || slots.dropFirst(placement.size).contains { $0.pid > 0 } || placement.isDisturbed
        let reading = isChanging ? nil : self.reading
        if let change = staffing?.look(reading, at: .now) { carryOut(change) }
    }

    /// Newcomers get their shards.
    func makeRoom() {
        guard placement.size > placement.seated,
            slots.prefix(placement.size).dropFirst(placement.seated).allSatisfy(\.isReady)
        else { return }
        placement.seatAll()
        reassign()
    }

    /// Ends workers that were to let go of all they had, and have.
    func dismiss() {
        for index in retired where assignments.isEmpty(index) {
            retired.remove(index)
            Loop.task { await self.slots[index].stop(within: .seconds(20)) }
        }
    }

    /// A worker has released shards: their new workers get them.
    func released(_ shards: [Int], of app: HostedApp, by slot: WorkerSlot) {
        let free = assignments.released(shards, of: app.name, by: slot.index)
        emptied(app, shards)
        for heir in Set(free.map { placement.place(of: $0) }) where heir != slot.index && slots[heir].isReady
        {
            assign(app, to: slots[heir])
        }
        dismiss()
    }

    private var reading: Autoscaler.Reading {
        let workers = slots.prefix(placement.size)
        return Autoscaler.Reading(
            busy: workers.reduce(0) { $0 + $1.busy },
            waiting: pressure.batches - workers.reduce(0) { $0 + Int($1.beat.batches) },
            rate: Double(workers.reduce(0) { $0 &+ $1.rate }))
    }

    /// So many workers from now on.
    func carryOut(_ change: Autoscaler.Change) {
        log.notice(
            change.to > change.from ? "more workers" : "fewer workers",
            metadata: ["from": "\(change.from)", "to": "\(change.to)", "reason": "\(change.reason.rawValue)"])
        for app in apps.values { app.tellOfStaff(change) }
        if change.to > change.from {
            addPlaces(upTo: change.to)
            placement.resize(to: change.to)
            for slot in slots[change.from..<change.to] {
                retired.remove(slot.index)
                slot.startAnew()
            }
        } else {
            placement.resize(to: change.to)
            for slot in slots[change.to..<change.from] {
                slot.retire()
                retired.insert(slot.index)
            }
            reassign()
            dismiss()
        }
        changes.ring()
    }

    /// Every place is made once, and kept.
    private func addPlaces(upTo count: Int) {
        guard let launch else { return }
        while slots.count < count {
            slots.append(
                WorkerSlot(
                    index: slots.count, host: configuration.host, launch: launch, owner: self, log: log))
        }
        for app in apps.values { app.credentials.workers = max(count, options.workers) }
        dependencies?.workers = max(count, options.workers)
    }
}
