package import EventLoop
package import FarmPolicy
import OpenSSL
package import PushModel
import Transport

/// The connections of one app in one worker: dialled when there is something to send, kept for days, replaced
/// when they are spent.
@Loop package final class ConnectionPool {
    /// Receives the events that concern more than one push.
    @Loop package protocol Owner: GatewayListener {
        /// A connection could not be made; the next try comes by itself.
        func dialFailed(_ reason: String, refusedByPeer: Bool)
        /// The pause after a failure is over: senders may ask for a connection.
        func dialPauseEnded()
    }

    package private(set) var connections: [any GatewayConnection] = []
    /// Connections dialled since the start, successfully or not.
    package private(set) var dials = 0
    /// Connections that are being dialled.
    package private(set) var dialling = 0
    /// As many as this are kept over HTTP/2 while there is something to send; a binary gateway gets more as they are needed.
    private var wanted = 1
    /// More than these are not made, whatever the plan says.
    package var most = Int.max
    /// Both lanes are sent: over HTTP/2 one connection more is kept for high priority.
    package var isMixed = false {
        didSet {
            guard isMixed != oldValue, let strategy, strategy.setMixed(isMixed) else { return }
            keep(wanted)
        }
    }
    private var plan: GatewayPlan?
    private var strategy: (any ConnectionStrategy)?
    private weak var owner: (any Owner)?
    private lazy var schedule = DialSchedule { [unowned self] in owner?.dialPauseEnded() }
    /// How long the last dials took that succeeded.
    private var dialTimes: [Duration] = []
    private static let rememberedDials = 8
    /// The least ``window``.
    static let leastWindow = 512
    /// Dials of an older plan are dropped when they are done.
    private var epoch = 0
    /// Of connections that are closed.
    private var bytesBefore = 0
    private var latenciesBefore = LatencyCounts()

    package init(owner: any Owner) { self.owner = owner }

    // MARK: Choosing a connection

    /// The connection with the most room, if any has some.
    package var roomiest: (any GatewayConnection)? {
        let best = connections.max { $0.room < $1.room }
        return best.flatMap { $0.room > 0 ? $0 : nil }
    }

    /// The connection with the most room for a push of the lane; `nil` when none has any.
    package func roomiest(for lane: Lane) -> (any GatewayConnection)? {
        let calm = strategy?.calmConnection(among: connections)
        guard let calm, !calm.isSpent, connections.contains(where: { $0 !== calm && !$0.isSpent }) else {
            let only = roomiest
            if lane == .bulk, only === calm, only != nil {
                // Over the binary interface another one is there in a moment, unless dials fail.
                if headroom > 0, !schedule.hasFailed, !schedule.isLongPause { return nil }
                strategy?.releaseCalmConnection()
            }
            return only
        }
        if lane == .high, calm.room > 0 { return calm }
        var best: (any GatewayConnection)?
        for connection in connections where connection !== calm && connection.room > best?.room ?? 0 {
            best = connection
        }
        return best
    }

    // MARK: Following the plan

    /// From now on connections are made by this plan; those of an older one are retired.
    package func follow(_ plan: GatewayPlan?) {
        self.plan = plan
        strategy = plan?.wire.makeStrategy()
        _ = strategy?.setMixed(isMixed)
        dialTimes = []
        wanted = plan?.connections ?? 1
        epoch += 1
        schedule.follow(plan, outdated: connections)
        retireAll()
        dialling = 0
    }

    /// Every connection uses this provider token from now on, and the ones to come.
    package func renew(_ token: [UInt8], generation: UInt32) {
        plan?.providerToken = token
        plan?.generation = generation
        for connection in connections { connection.renew(token, generation: generation) }
    }

    /// So many connections are wanted: those that are too many take no more pushes, and end when they are done.
    package func keep(_ count: Int) {
        wanted = count
        let living = connections.filter { !$0.isSpent && !isExtra($0) }
        guard living.count > count else { return }
        // Those with the least to do end soonest.
        for connection in living.sorted(by: { $0.openStreams < $1.openStreams }).prefix(living.count - count)
        {
            connection.retire()
        }
    }

    /// Retires every connection: the next ones start again.
    package func retireAll() {
        for connection in connections { connection.retire() }
    }

    /// Closes every connection at once.
    package func closeAll() {
        (plan, strategy) = (nil, nil)
        epoch += 1
        for connection in connections { connection.close() }
    }

    /// The gateway throttles several devices.
    package func slowDownForThrottling() {
        for connection in connections { connection.slowDownForThrottling() }
    }

    // MARK: Numbers

    /// Connections that take pushes, but for an extra one, and how many pushes may be open on them.
    package var living: (count: Int, limit: Int) {
        var sum = (count: 0, limit: 0)
        for connection in connections where !connection.isSpent && !isExtra(connection) {
            sum.count += 1
            sum.limit += connection.limit
        }
        return sum
    }

    /// Bytes that were written on all connections so far.
    package var bytesWritten: Int { connections.reduce(bytesBefore) { $0 + $1.bytesWritten } }

    /// How long the gateway's responses took since the last call.
    package func takeLatencies() -> LatencyCounts {
        var sum = latenciesBefore
        latenciesBefore = LatencyCounts()
        for connection in connections {
            if let latencies = connection.takeLatencies() { sum.add(latencies) }
        }
        return sum
    }

    /// Fewer connections take pushes, or are being dialled, than are wanted.
    package var isShort: Bool { living.count + dialling < wanted + (lacksExtra ? 1 : 0) }

    /// Pushes that another connection would take, if one more may be made: their sender asks for it.
    ///
    /// 0 over HTTP/2, whose streams are free again within milliseconds; a binary window is full for seconds.
    package var headroom: Int { demand?.headroom ?? 0 }

    /// Pushes that may be granted and unreported: a lost worker makes their outcomes unknown.
    package var window: Int { strategy?.window(in: self) ?? Self.leastWindow }

    /// So many held pushes are to be sent: a binary gateway's connections share them.
    package func share(_ pushes: @autoclosure () -> Int) {
        strategy?.share(pushes(), over: allowed)
    }

    /// The gateway takes connections and responds to no push, for some time.
    package var isStalled: Bool {
        let responds = connections.contains { $0.hasMadeProgress && !$0.isSpent && !$0.isRefused }
        return !responds && (schedule.uselessInARow >= 3 || connections.contains { $0.isRefused })
    }

    /// Dials in a row that the gateway ended by a TLS alert: it does not like our certificate.
    package var refusalsInARow: Int { schedule.refusalsInARow }

    /// The last dials have failed, and no connection is dialled for a while.
    var hasFailed: Bool { schedule.hasFailed }

    /// Connections that there may be.
    var allowed: Int { min(most, plan?.connections ?? 0) }

    /// What the fastest of the last dials took; nil: none has succeeded.
    var fastestDial: Duration? { dialTimes.min() }

    private var demand: ConnectionDemand? { strategy?.demand(in: self) }

    private func isExtra(_ connection: any GatewayConnection) -> Bool {
        strategy?.isExtra(connection) ?? false
    }

    private var lacksExtra: Bool { strategy?.lacksExtra(in: self) ?? false }

    // MARK: Dialling

    /// A binary gateway may get another connection now, if there is something for it.
    package var mayGrow: Bool {
        let mayDial =
            !schedule.isPausing || schedule.hasFailed && schedule.hasServedSinceFailure(connections)
        return mayDial && (demand?.free ?? 0) > 0
    }

    /// There is something to send: makes connections if some are missing and not too many are on their way.
    ///
    /// - Parameter waiting: pushes that no connection has room for: a binary gateway gets as many connections as they need, and
    ///   as those need that will come back to be sent again.
    /// - Returns: whether what may be sent, or be held, has changed: a dial has begun, or none will for long.
    @discardableResult
    package func needConnection(for waiting: Int = 1) -> Bool {
        guard let plan else { return false }
        schedule.endPauseIfServed(by: connections)
        let most = min(allowed, wanted + (lacksExtra ? 1 : 0))
        let isProven = connections.contains { $0.isProven }
        let atOnce =
            schedule.isTroubled(connections)
            ? 1 : plan.wire.dialsAtOnce.map { isProven ? $0 : 1 } ?? plan.connections
        var left = demand?.dials(for: waiting) ?? max(0, min(atOnce, most - living.count) - dialling)
        var hasChanged = false
        while left > 0, !schedule.isPausing, dialling < atOnce {
            guard schedule.takeDial(at: .now) else { return hasChanged || schedule.isLongPause }
            (left, dialling, hasChanged) = (left - 1, dialling + 1, true)
            let epoch = epoch
            Loop.task { await self.dial(plan, epoch: epoch) }
        }
        return hasChanged
    }

    private func dial(_ plan: GatewayPlan, epoch: Int) async {
        dials += 1
        let dial = Dial(
            .tcp(host: plan.host, port: plan.port), tls: plan.tls, serverName: plan.host, proxy: plan.proxy,
            firstAddress: plan.firstAddress + dials, timeout: plan.dial.timeout)
        let start = ContinuousClock.now
        do {
            let stream = try await dial.connect()
            guard epoch == self.epoch, let owner else { return stream.close() }
            dialling -= 1
            dialTimes = dialTimes.suffix(Self.rememberedDials - 1) + [ContinuousClock.now - start]
            adopt(stream, by: plan, for: owner)
        } catch {
            guard epoch == self.epoch else { return }
            dialling -= 1
            var refused = false
            if case .tls(.alert) = error { refused = true }
            dialFailed("\(error)", refusedByPeer: refused)
        }
    }

    private func adopt(_ stream: ByteStream, by plan: GatewayPlan, for owner: any Owner) {
        if let chosen = stream.applicationProtocol, chosen != plan.wire.applicationProtocol {
            stream.close()
            let wanted = plan.wire.applicationProtocol ?? "none"
            return dialFailed("the gateway chose the protocol \(chosen), not \(wanted)", refusedByPeer: false)
        }
        guard let strategy, let connection = strategy.connect(stream, by: plan, in: self, for: owner)
        else { return stream.close() }
        connections.append(connection)
        schedule.made(connection)
        strategy.added(connection, for: owner)
    }

    private func dialFailed(_ reason: String, refusedByPeer: Bool) {
        schedule.failed(refusedByPeer: refusedByPeer, connections: connections)
        owner?.dialFailed(reason, refusedByPeer: refusedByPeer)
    }

    // MARK: The end of connections

    /// The connection takes no more pushes, and may await responses for long. Unless it was of use, the next one is not dialled at
    /// once: a gateway that says GOAWAY to every connection would be dialled in a loop.
    package func spent(_ connection: any GatewayConnection) {
        guard let strategy, strategy.isUseless(connection) else { return }
        schedule.wasUseless(connection, connections: connections)
    }

    /// The connection is closed.
    package func remove(_ connection: any GatewayConnection, reason: String) {
        connections.removeAll { $0 === connection }
        bytesBefore += connection.bytesWritten
        if let latencies = connection.takeLatencies() { latenciesBefore.add(latencies) }
        if schedule.isRefusal(endOf: connection, connections: connections) {
            dialFailed(reason, refusedByPeer: true)
        }
    }
}
