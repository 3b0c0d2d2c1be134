import EventLoop
import FarmPolicy
import FarmStore
import Logging

/// More and fewer workers, as ``Staffing`` says.
///
/// Those that come are started first, and get their shards when all of them are ready; those that go let go of their shards,
/// and end when nothing is in their hands. Meanwhile nothing else is decided.
extension Coordinator {
    /// Workers that there are to be.
    var staff: Int { staffing?.workers ?? slots.count }

    /// To be called every second.
    func lookAtStaff() {
        guard staffing != nil, !isStopping else { return }
        let newcomers = slots[map.workers..<max(map.workers, staff)]
        let present = map.workers
        if newcomers.contains(where: { $0.state == .failed }),
            let change = staffing?.stay(at: present, now: .now)
        {
            return carryOut(change)
        }
        dismiss()
        let isChanging =
            staff != map.workers || slots.prefix(staff).contains { !$0.isReady && $0.state != .failed }
            || slots.dropFirst(staff).contains { $0.pid > 0 }
        let reading = isChanging ? nil : self.reading
        if let change = staffing?.look(reading, at: .now) { carryOut(change) }
    }

    /// Newcomers get their shards.
    func makeRoom() {
        guard staff > map.workers, slots.prefix(staff).dropFirst(map.workers).allSatisfy(\.isReady) else {
            return
        }
        map = ShardMap(shards: map.shards, workers: staff)
        reassign()
    }

    /// Ends workers that were to let go of all they had, and have.
    func dismiss() {
        for index in retired where hands.isEmpty(index) {
            retired.remove(index)
            Loop.task { await self.slots[index].stop(within: .seconds(20)) }
        }
    }

    /// A worker has let go of shards: whoever is to have them gets them.
    func released(_ shards: [Int], of app: HostedApp, by slot: WorkerSlot) {
        let free = hands.released(shards, of: app.name, by: slot.index)
        emptied(app, shards)
        for heir in Set(free.map { map.worker(of: $0) }) where heir != slot.index && slots[heir].isReady {
            assign(app, to: slots[heir])
        }
        dismiss()
    }

    private var reading: Staffing.Reading {
        let workers = slots.prefix(staff)
        return Staffing.Reading(
            busy: workers.reduce(0) { $0 + $1.busy },
            waiting: pressure.batches - workers.reduce(0) { $0 + Int($1.beat.batches) },
            rate: Double(workers.reduce(0) { $0 + $1.rate }))
    }

    private func carryOut(_ change: Staffing.Change) {
        log.notice(
            change.to > change.from ? "more workers" : "fewer workers",
            metadata: ["from": "\(change.from)", "to": "\(change.to)", "reason": "\(change.reason.rawValue)"])
        for app in apps.values { app.tellOfStaff(change) }
        if change.to > change.from {
            for slot in slots[change.from..<change.to] { slot.startAnew() }
        } else {
            for slot in slots[change.to..<change.from] {
                slot.retire()
                retired.insert(slot.index)
            }
            map = ShardMap(shards: map.shards, workers: min(change.to, map.workers))
            reassign()
            dismiss()
        }
    }
}
