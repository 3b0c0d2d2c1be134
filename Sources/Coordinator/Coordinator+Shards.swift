import ControlChannel
import EventLoop
import FarmConfiguration
import FarmStore
import Logging

/// Leases, and which worker serves what.
extension Coordinator {
    func keepLeases() async {
        let start = BootClock.milliseconds
        var allKept = true
        for app in apps.values where !isStopping {
            let kept = await app.leases.keep()
            allKept = allKept && kept
        }
        if allKept { return grantLease(from: start) }
        guard BootClock.milliseconds >= leaseEnd else { return }
        for app in apps.values { app.leases.expire() }
    }

    func grantLease(from start: UInt64) {
        leaseEnd = start + (AppLeases.lease - AppLeases.margin).milliseconds
        for slot in slots { slot.tell(.lease(end: leaseEnd)) }
    }

    func assign(_ app: HostedApp, to slot: WorkerSlot) {
        let shards = bereaved.contains(slot.index) ? [] : app.shards { map.worker(of: $0) == slot.index }
        slot.tell(.shards(app: app.name, shards))
    }

    func ring(_ app: String, _ shards: [Int]) {
        guard !shards.isEmpty else { return }
        for slot in slots where slot.isReady {
            let his = shards.filter { map.worker(of: $0) == slot.index }
            if !his.isEmpty { slot.tell(.ring(app: app, shards: his.map { UInt16($0) })) }
        }
    }

    var liveWorkers: [String] { slots.filter { $0.pid > 0 }.map(\.name) }

    func sweep() async {
        for app in apps.values { await app.sweep(liveWorkers: liveWorkers) }
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
        slot.tell(.lease(end: leaseEnd))
    }

    func noticed(_ notice: Notice, _ slot: WorkerSlot) {
        switch notice {
        case .hello: for app in apps.values { assign(app, to: slot) }
        case .beat, .released: break
        case .reported(let name): apps[name]?.workerReported()
        case .doubt(let name, let doubt, let generation, let reason):
            Task { @Loop in
                await apps[name]?.credentials.doubt(doubt, generation: generation, reason: reason)
            }
        case .proved(let name, let generation): apps[name]?.credentials.proved(generation: generation)
        case .fenced(let name): apps[name]?.leases.doubt()
        }
    }

    func ended(_ slot: WorkerSlot, name: String, isCrash: Bool) async {
        bereaved.insert(slot.index)
        for app in apps.values { await app.reclaim(from: name, isCrash: isCrash) }
        bereaved.remove(slot.index)
    }

    func introduce(_ app: HostedApp, to slot: WorkerSlot) {
        for order in app.credentials.orders { slot.tell(order) }
        assign(app, to: slot)
    }
}
