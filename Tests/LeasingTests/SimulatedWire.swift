/// A coordinator's connection to Redis. Calls and replies arrive in order, except for injected faults.
final class SimulatedWire {
    typealias Call = SimulatedHost.Call
    typealias ReplyHandler = (SimulatedHost.Reply?) throws -> Void

    private unowned let host: SimulatedHost
    private unowned let farm: LeaseSimulation
    /// No call arrives before this time.
    var cutUntil = 0
    private var pending: [Int: ReplyHandler] = [:]
    private var made = 0
    private var epoch = 0
    private var isUp = true
    private var lastArrival = 0
    private var lastReply = 0

    init(_ host: SimulatedHost, _ farm: LeaseSimulation) { (self.host, self.farm) = (host, farm) }

    /// Resets the connection for a new process.
    func reset() {
        pending = [:]
        epoch += 1
        isUp = true
    }

    /// - Parameter handler: called with the reply, or with nil if no reply arrived.
    /// Redis may have executed the call, or may execute it later.
    func call(_ call: Call, _ handler: @escaping ReplyHandler) {
        guard isUp else { return host.later(0) { try handler(nil) } }
        made += 1
        let number = made
        pending[number] = handler
        if farm.now < cutUntil || farm.faultOccurs(.losses, oneIn: 50) { return lose(call) }
        arrive(call, number, after: delay)
    }

    private var delay: Int { farm.chance(20) ? farm.int(1...500) : farm.int(1...5) }

    private func arrive(_ call: Call, _ number: Int?, after delay: Int) {
        lastArrival = max(lastArrival, farm.now + delay)
        farm.after(lastArrival - farm.now) { [unowned self] in
            let reply = try farm.execute(call, of: host)
            guard let number else { return }
            lastReply = max(lastReply, farm.now + self.delay)
            farm.after(lastReply - farm.now) { [unowned self] in
                guard let handler = pending.removeValue(forKey: number) else { return }
                try host.live(host.life) { try handler(reply) }
            }
        }
    }

    private func lose(_ call: Call) {
        let isSlow = farm.now < cutUntil || farm.chance(2)
        switch farm.int(0...2) {
        case 0: break
        case 1 where farm.now >= cutUntil: arrive(call, nil, after: delay)
        default:
            // The caller's timeout is over, but the call is still in flight, and Redis executes it later.
            let late = max(cutUntil - farm.now, 0) + farm.int(0...8000)
            farm.after(max(0, min(late, LeaseSimulation.trouble + 3000 - farm.now))) { [unowned self] in
                _ = try farm.execute(call, of: host)
            }
        }
        let epoch = epoch
        host.later(isSlow ? 5000 : farm.int(0...100)) { [unowned self] in try end(epoch) }
    }

    private func end(_ epoch: Int) throws {
        guard epoch == self.epoch else { return }
        self.epoch += 1
        isUp = false
        let calls = pending.sorted { $0.key < $1.key }.map(\.value)
        pending = [:]
        host.later(max(cutUntil - farm.now, 0) + farm.int(50...1200)) { [unowned self] in
            isUp = true
            try host.reconnected()
        }
        for handler in calls { try host.live(host.life) { try handler(nil) } }
    }
}
