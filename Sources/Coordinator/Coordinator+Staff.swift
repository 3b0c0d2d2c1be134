import EventLoop
import FarmPolicy
import FarmStore
import Logging

/// More and fewer workers, as ``Staffing`` or an operator says.
///
/// Those that come are started first, and get their shards when all of them are ready; those that go let go of their shards,
/// and end when nothing is in their hands. Meanwhile nothing else is decided.
extension Coordinator {
    /// Workers that this host can be told to run.
    var mostWorkers: Int {
        StaffWish.most(
            processors: options.processors, memory: options.memory,
            configured: max(options.workers, configuration.workers.count(processors: options.processors)))
    }

    /// To be called every second.
    func lookAtStaff() {
        guard !isStopping else { return }
        let newcomers = slots[crew.seated..<max(crew.seated, crew.size)]
        if !newcomers.isEmpty, newcomers.contains(where: { $0.state == .failed }) {
            let stayed = staffing?.stay(at: crew.seated, now: .now)
            return carryOut(
                stayed ?? Staffing.Change(from: crew.size, to: crew.seated, reason: .unstartable))
        }
        dismiss()
        guard staffing != nil else { return }
        let isChanging =
            crew.size != crew.seated
            || slots.prefix(crew.size).contains { !$0.isReady && $0.state != .failed }
            || slots.dropFirst(crew.size).contains { $0.pid > 0 } || crew.isDisturbed
        let reading = isChanging ? nil : self.reading
        if let change = staffing?.look(reading, at: .now) { carryOut(change) }
    }

    /// Newcomers get their shards.
    func makeRoom() {
        guard crew.size > crew.seated,
            slots.prefix(crew.size).dropFirst(crew.seated).allSatisfy(\.isReady)
        else { return }
        crew.seatAll()
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
        for heir in Set(free.map { crew.place(of: $0) }) where heir != slot.index && slots[heir].isReady {
            assign(app, to: slots[heir])
        }
        dismiss()
    }

    private var reading: Staffing.Reading {
        let workers = slots.prefix(crew.size)
        return Staffing.Reading(
            busy: workers.reduce(0) { $0 + $1.busy },
            waiting: pressure.batches - workers.reduce(0) { $0 + Int($1.beat.batches) },
            rate: Double(workers.reduce(0) { $0 &+ $1.rate }))
    }

    /// So many workers from now on.
    func carryOut(_ change: Staffing.Change) {
        log.notice(
            change.to > change.from ? "more workers" : "fewer workers",
            metadata: ["from": "\(change.from)", "to": "\(change.to)", "reason": "\(change.reason.rawValue)"])
        for app in apps.values { app.tellOfStaff(change) }
        if change.to > change.from {
            addPlaces(upTo: change.to)
            crew.resize(to: change.to)
            for slot in slots[change.from..<change.to] {
                retired.remove(slot.index)
                slot.startAnew()
            }
        } else {
            crew.resize(to: change.to)
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
        surroundings?.workers = max(count, options.workers)
    }
}
