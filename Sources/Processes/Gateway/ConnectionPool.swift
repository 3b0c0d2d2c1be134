package import EventLoop
import FarmPolicy
import OpenSSL
package import PushModel
import Transport

/// The connections of one app in one worker: dialled when there is something to send, kept for days, replaced
/// when they are spent.
@Loop package final class ConnectionPool {
    /// Hears of what concerns more than one push.
    @Loop package protocol Owner: GatewayListener {
        /// A connection could not be made; the next try comes by itself.
        func dialFailed(_ reason: String, refusedByPeer: Bool)
        /// The pause after a failure is over: senders may ask for a connection.
        func dialPauseEnded()
    }

    package private(set) var connections: [any GatewayConnection] = []
    /// Connections dialled since the start, successfully or not.
    package private(set) var dials = 0
    /// Dials in a row that the gateway ended by a TLS alert: it does not like our certificate.
    package private(set) var refusalsInARow = 0
    private var plan: GatewayPlan?
    private weak var owner: (any Owner)?
    private var backOff = BackOff()
    package private(set) var dialling = 0
    /// As many as this are kept over HTTP/2 while there is something to send; a binary gateway gets more as they are needed.
    private var wanted = 1
    /// More than these are not made, whatever the plan says.
    package var most = Int.max
    /// Of connections that are gone.
    var bytesBefore = 0
    var latenciesBefore = LatencyCounts()
    private var rate = DialRate(connections: 1, life: .zero)
    private var experience: BinaryExperience?
    /// How long the last dials took that succeeded.
    private var dialTimes: [Duration] = []
    private static let rememberedDials = 8
    /// Connections that were made since the last failure, by identity.
    private var madeSinceFailure: Set<ObjectIdentifier> = []
    /// Of several connections, the one that is kept free of bulk. A message would wait behind all that a campaign has put before the
    /// gateway, and over the binary interface for the reply to its bad tokens.
    private weak var calm: (any GatewayConnection)?
    /// High is sent while bulk is, too: over HTTP/2 a connection more is kept for it.
    package var isMixed = false {
        didSet {
            guard isMixed != oldValue, plan?.wire == .http2 else { return }
            if !isMixed {
                calm = nil
                keep(wanted)
            }
        }
    }
    private var epoch = 0
    private var pause: Timer?
    private var isPausing = false
    /// The pause is too long for bulk to wait for the next connection.
    private var isLongPause = false
    /// The pause is one after a failure.
    private(set) var hasFailed = false
    /// Failures in a row that were connections of no use: the gateway took them, and then responded to nothing.
    private var uselessInARow = 0
    /// Connections that count as such, and are not closed yet.
    private var useless: Set<ObjectIdentifier> = []
    /// Connections of older plans that are not closed yet: their end says nothing about the present one.
    private var outdated: Set<ObjectIdentifier> = []
    private var random = SystemRandomNumberGenerator()

    package init(owner: any Owner) {
        self.owner = owner
        pause = Timer { [unowned self] in
            (isPausing, hasFailed, isLongPause) = (false, false, false)
            self.owner?.dialPauseEnded()
        }
    }

    /// The connection with the most room, if any has some.
    package var roomiest: (any GatewayConnection)? {
        let best = connections.max { $0.room < $1.room }
        return best.flatMap { $0.room > 0 ? $0 : nil }
    }

    /// Connections that take pushes, but for the one that is kept for high over HTTP/2, and how many may be open on them.
    package var living: (count: Int, limit: Int) {
        var sum = (count: 0, limit: 0)
        for connection in connections where !connection.isSpent && !isExtra(connection) {
            sum.count += 1
            sum.limit += connection.limit
        }
        return sum
    }

    /// Fewer connections take pushes, or are on their way, than are wanted.
    package var isShort: Bool { living.count + dialling < wanted + (lacksCalm ? 1 : 0) }

    private func isExtra(_ connection: any GatewayConnection) -> Bool {
        isMixed && connection === calm && plan?.wire == .http2
    }

    private var lacksCalm: Bool {
        guard isMixed, let plan, plan.wire == .http2, living.count < min(most, plan.connections) else {
            return false
        }
        return calm.map { $0.isSpent } ?? true
    }

    /// The gateway throttles several devices.
    package func heedThrottles() {
        for connection in connections { connection.heedThrottles() }
    }

    /// A binary connection that can be kept free of bulk from now on: nothing is open on it, and there is another one.
    private var spare: (any GatewayConnection)? {
        guard case .binary? = plan?.wire, connections.count(where: { !$0.isSpent }) > 1 else { return nil }
        return connections.first { !$0.isSpent && $0.openStreams == 0 }
    }

    /// The connection with the most room for a push of the lane; `nil` when none has any.
    package func roomiest(for lane: Lane) -> (any GatewayConnection)? {
        if calm.map({ $0.isSpent }) ?? true { calm = spare }
        guard let calm, !calm.isSpent, connections.contains(where: { $0 !== calm && !$0.isSpent }) else {
            let only = roomiest
            if lane == .bulk, only === calm, only != nil {
                // Over the binary interface another one is there in a moment, unless dials fail.
                if headroom > 0, !hasFailed, !isLongPause { return nil }
                // The next one that is made is to be it then.
                self.calm = nil
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

    /// Pushes that another connection would take, if one more may be made: their sender asks for it.
    ///
    /// 0 over HTTP/2, whose streams are free again within milliseconds; a binary window is full for seconds.
    package var headroom: Int { demand?.headroom ?? 0 }

    /// What a binary gateway's connections are, and are to be; nil over HTTP/2.
    private var demand: ConnectionDemand? {
        guard let plan, case .binary = plan.wire, let experience else { return nil }
        let now = ContinuousClock.now
        let dialDone = dialTimes.min().map { now + $0 }
        var demand = ConnectionDemand(
            most: min(most, plan.connections), dialling: dialling, share: experience.pace.share,
            part: experience.part)
        var returning = 0
        for connection in connections where !connection.isSpent {
            demand.living += 1
            returning += experience.pace.returning(of: connection.openStreams)
            // One that should have ended by now most likely holds no bad token.
            if let dialDone, let end = connection.expectedEnd, now < end, end <= dialDone {
                demand.ending += 1
            }
        }
        demand.returning = max(0, returning)
        return demand
    }

    /// So many pushes in hand are to be sent: a binary gateway's connections share them.
    package func share(_ waiting: @autoclosure () -> Int) {
        guard let plan, let experience, experience.pace.isRefusing else { return }
        experience.waiting = (waiting(), min(most, plan.connections))
    }

    /// A binary gateway may get another connection now, if there is something for it.
    package var mayGrow: Bool {
        (!isPausing || hasFailed && hasServedSinceFailure) && (demand?.free ?? 0) > 0
    }

    /// Pushes that may be granted and unreported: what a lost worker puts in doubt.
    ///
    /// As many as the connections have room for, and as many again, which are in hand for when answers come all at once, or of which the
    /// results are on their way to Redis; but no more than 2,000 for a connection. A binary connection's window holds its pushes for so long that nothing is added.
    package var window: Int {
        if case .binary(let settings)? = plan?.wire {
            // Bulk may have all of it but an eighth: its part, too, has to fill the connections and call for the next one.
            return min(max((limit + headroom) * 8 / 7 + 1, Self.leastWindow), settings.window)
        }
        return max(
            connections.reduce(0) {
                isExtra($1) ? $0 : $0 + min(2 * $1.limit, Self.mostOfConnection)
            },
            Self.leastWindow)
    }

    private static let leastWindow = 512
    private static let mostOfConnection = 2000

    /// From now on connections are made by this plan; those of an older one are retired.
    package func follow(_ plan: GatewayPlan?) {
        self.plan = plan
        if let plan {
            rate.change(
                connections: plan.connections, life: plan.shortestLife, perMinute: plan.dialsPerMinute)
        }
        dialTimes = []
        madeSinceFailure = []
        experience = nil
        if case .binary(let settings)? = plan?.wire { experience = BinaryExperience(settings) }
        wanted = plan?.connections ?? 1
        epoch += 1
        outdated.formUnion(connections.map { ObjectIdentifier($0) })
        retireAll()
        (refusalsInARow, uselessInARow) = (0, 0)
        let dial = plan?.dial ?? DialSettings()
        backOff = BackOff(first: dial.firstPause, longest: dial.longestPause, jitter: dial.jitter)
        pause?.stop()
        (isPausing, hasFailed, isLongPause) = (false, false, false)
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
        plan = nil
        epoch += 1
        for connection in connections { connection.close() }
    }

    /// There is something to send: makes connections if some are missing and not too many are on their way.
    ///
    /// - Parameter waiting: pushes that no connection has room for: a binary gateway gets as many connections as they need, and
    ///   as those need that will come back to be sent again.
    /// - Returns: whether what may be sent, or be in hand, has changed: a dial has begun, or none will for long.
    @discardableResult
    package func needConnection(for waiting: Int = 1) -> Bool {
        guard let plan else { return false }
        endPauseIfServed()
        let most = min(most, min(wanted + (lacksCalm ? 1 : 0), plan.connections))
        // After a failure one dial is enough to find out whether the gateway takes connections again.
        let isTroubled = backOff.failures > 0 && !hasServedSinceFailure
        let atOnce = isTroubled ? 1 : plan.dialsAtOnce(isProven: connections.contains { $0.isProven })
        var left = demand?.dials(for: waiting) ?? max(0, min(atOnce, most - living.count) - dialling)
        var hasChanged = false
        while left > 0, !isPausing, dialling < atOnce {
            let wait = rate.take(at: .now)
            guard wait == .zero else {
                pause(for: wait)
                hasChanged = hasChanged || isLongPause
                break
            }
            (left, dialling, hasChanged) = (left - 1, dialling + 1, true)
            let epoch = epoch
            Loop.task { await self.dial(plan, epoch: epoch) }
        }
        return hasChanged
    }

    /// The connection takes no more pushes, and may await responses for long. Unless it was of use, the next one is not dialled at
    /// once: a gateway that says GOAWAY to every connection would be dialled in a loop.
    package func spent(_ connection: any GatewayConnection) {
        guard plan?.wire == .http2, !connection.hasMadeProgress,
            useless.insert(ObjectIdentifier(connection)).inserted
        else { return }
        wasUseless()
    }

    /// The gateway takes connections and responds to no push, for some time.
    package var isStalled: Bool {
        let responds = connections.contains { $0.hasMadeProgress && !$0.isSpent && !$0.isRefused }
        return !responds && (uselessInARow >= 3 || connections.contains { $0.isRefused })
    }

    /// The connection is closed.
    package func remove(_ connection: any GatewayConnection, reason: String) {
        connections.removeAll { $0 === connection }
        let isSinceFailure = madeSinceFailure.remove(ObjectIdentifier(connection)) != nil
        bytesBefore += connection.bytesWritten
        if let latencies = connection.takeLatencies() { latenciesBefore.add(latencies) }
        let isKnown = useless.remove(ObjectIdentifier(connection)) != nil
        guard outdated.remove(ObjectIdentifier(connection)) == nil else { return }
        if connection.isProven { refusalsInARow = 0 }
        // One of no use counts like a failed dial: no gateway likes to be dialled in a loop.
        if connection.hasMadeProgress {
            // One from before the failure says nothing about the dials since.
            if isSinceFailure { backOff.succeeded() }
            uselessInARow = 0
        } else if connection.wasRefused {
            failed(reason, refusedByPeer: true)
        } else if !isKnown {
            wasUseless()
        }
    }

    private func wasUseless() {
        if !hasFailed { uselessInARow += 1 }
        wait()
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
            failed("\(error)", refusedByPeer: refused)
        }
    }

    private func adopt(_ stream: ByteStream, by plan: GatewayPlan, for owner: any Owner) {
        if let chosen = stream.applicationProtocol, chosen != plan.wire.applicationProtocol {
            stream.close()
            let wanted = plan.wire.applicationProtocol ?? "none"
            return failed("the gateway chose the protocol \(chosen), not \(wanted)", refusedByPeer: false)
        }
        switch plan.wire {
        case .http2:
            let connection = APNsConnection(
                over: stream, authority: plan.authority, providerToken: plan.providerToken,
                generation: plan.generation, requestTimeout: plan.requestTimeout, streams: plan.maxStreams,
                keepAlive: plan.keepAlive, listener: owner)
            if lacksCalm, living.count > 0 { calm = connection }
            add(connection)
        case .binary(let settings):
            // It was dialled because another one was to have ended by now, and that has not.
            guard connections.count(where: { !$0.isSpent }) < min(most, plan.connections) else {
                return stream.close()
            }
            let experience = experience ?? BinaryExperience(settings)
            let connection = BinaryConnection(
                over: stream, settings: settings, experience: experience, generation: plan.generation,
                timeout: plan.requestTimeout, listener: owner)
            if !connections.isEmpty, calm.map({ $0.isSpent }) ?? true { calm = connection }
            add(connection)
            owner.hasRoom(connection)
        }
    }

    private func add(_ connection: any GatewayConnection) {
        connections.append(connection)
        madeSinceFailure.insert(ObjectIdentifier(connection))
    }

    private func failed(_ reason: String, refusedByPeer: Bool) {
        let isNew = !refusedByPeer || connections.contains { $0.isProven }
        refusalsInARow = (isNew ? 0 : refusalsInARow) + (refusedByPeer ? 1 : 0)
        wait()
        owner?.dialFailed(reason, refusedByPeer: refusedByPeer)
    }

    private func wait() {
        // Connections that end together are one failure.
        guard !hasFailed else { return }
        hasFailed = true
        // The gateway has served a connection since: it is a first failure, however many there were before.
        if hasServedSinceFailure { backOff.succeeded() }
        madeSinceFailure = []
        pause(for: backOff.failed(using: &random))
    }

    /// A connection that was made since the last failure is of use.
    private var hasServedSinceFailure: Bool {
        connections.contains { $0.isProven && madeSinceFailure.contains(ObjectIdentifier($0)) }
    }

    /// The failure was that of some dials: others have succeeded since.
    private func endPauseIfServed() {
        guard isPausing, hasFailed, hasServedSinceFailure else { return }
        backOff.succeeded()
        pause?.stop()
        (isPausing, hasFailed, isLongPause) = (false, false, false)
    }

    private func pause(for time: Duration) {
        isPausing = true
        isLongPause = time > .seconds(1)
        pause?.start(after: time)
    }
}
