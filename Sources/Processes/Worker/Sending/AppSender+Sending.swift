import Delivery
import EventLoop
import FarmPolicy
import Gateway
import PushModel

#if FAILPOINTS
    import Failpoints
#endif

/// Sends pushes of held batches on connections that have room.
extension AppSender {
    /// Sends as many pushes as credit, rates and connections allow.
    func sendPushes() {
        let now = ContinuousClock.now
        guard suspension == nil, context.mayStart, context.suspectTurn.maySend(self) else {
            return governor.idle(at: now)
        }
        var isProbe = false
        switch gatewayHealth.permit(at: now) {
        case .all: break
        case .probe: isProbe = true
        case .nothing(let until):
            if let until { timer.start(after: until - now) }
            return governor.idle(at: now)
        }
        let (allowance, share) = (governor.allowance(at: now), context.turns.share(of: self, weight: weight))
        var remaining = min(allowance, share)
        var (isBulkFull, maySpread) = (false, false)
        window.beginTurn()
        pool.share(window.sendable)
        while remaining > 0 {
            guard
                let (batch, most) = window.nextBatch(
                    hasExclusiveTurn: hasExclusiveTurn, isBulkFull: isBulkFull)
            else {
                // Each remaining batch waits for the connection of its shard, which has no room. From now on, the batches may use
                // another connection.
                guard window.hasPassedBatches, !maySpread else { break }
                maySpread = true
                window.beginTurn()
                continue
            }
            guard let connection = connection(for: batch, maySpread: maySpread) else {
                if pool.roomiest(for: batch.lane) != nil {
                    window.pass(batch)
                    continue
                }
                guard batch.lane == .bulk, !isBulkFull else { break }
                isBulkFull = true
                continue
            }
            let room = min(remaining, most, isProbe ? 1 : connection.sendShare)
            let sent = send(from: batch, over: connection, atMost: room, at: now)
            remaining -= sent
            batch.route.sent(over: ObjectIdentifier(connection), by: batch)
            window.sent(sent, of: batch)
            if batch.lane == .high, sent > 0, window.holdsBulk { sentBothLanes() }
            if isProbe, sent > 0 {
                gatewayHealth.probeSent()
                break
            }
            // The connection did not take a push although it had room. Stopping here avoids an endless loop.
            guard sent > 0 || !batch.hasNext else { break }
        }
        let sent = min(allowance, share) - remaining
        // The remaining pushes are sent after other apps had their turn and new events were handled.
        let isInterrupted = remaining == 0 && share < allowance
        if isInterrupted { nextTurn.start(after: .zero) }
        let waits = !isInterrupted && window.nextBatch(hasExclusiveTurn: hasExclusiveTurn) != nil
        if waits && remaining > 0 || window.suspect != nil && pool.roomiest == nil || sent > 0 && pool.isShort
        {
            pool.needConnection()
        }
        // Pushes of skipped batches count too, because the connection of these batches may be waiting for the response to a bad
        // token.
        if remaining > 0, pool.mayGrow {
            let waiting = window.waitingForConnection(atMost: DeliveryWindow.mostWaiting)
            // If the limit of held pushes has changed, the next turn may check out more pushes and need another
            // connection.
            if pool.needConnection(for: waiting) { schedule() }
        }
        governor.recordSent(sent, waits: waits, isLimited: waits && remaining == 0, at: now)
    }

    /// Returns a connection with room that keeps the order of the batch's shard.
    ///
    /// - Parameter maySpread: whether no other batch can be sent. As long as another batch can be sent, a batch stays
    ///   on its connection, so that its responses arrive and are handled together.
    private func connection(for batch: HeldBatch, maySpread: Bool) -> (any GatewayConnection)? {
        switch batch.route.connectionChoice(for: batch.number) {
        case .any: return pool.roomiest(for: batch.lane)
        case .none: return nil
        case .following(let last):
            let same = pool.connections.first { ObjectIdentifier($0) == last }
            if let same, same.room > 0 {
                // A loaded connection has so many pushes in flight that probably one of these pushes has a bad token. A push that
                // follows a bad token must be sent again, so a free batch uses another connection.
                guard same.isLoaded, let other = pool.roomiest(for: batch.lane), !other.isLoaded,
                    batch.route.free(batch)
                else { return same }
                return other
            }
            guard maySpread, let other = pool.roomiest(for: batch.lane) else { return nil }
            if batch.route.free(batch) { return other }
            batch.route.close()
            return nil
        }
    }

    private func send(
        from batch: HeldBatch, over connection: any GatewayConnection, atMost most: Int,
        at now: Instant
    ) -> Int {
        var sent = 0
        let milliseconds = context.redis.clock.milliseconds
        let seconds = milliseconds / 1000
        let list = suppressionLists.list(of: batch.shard)
        batch.batch.bytes.withUnsafeBytes { bytes in
            while sent < most, let position = batch.next() {
                let push = batch.batch.pushes[position]
                let jobPart = Int(push.jobPart)
                if let deadline = batch.batch.jobParts[jobPart].options.deadline, deadline <= seconds {
                    record(batch, position, as: .expired)
                    continue
                }
                let token = UnsafeRawBufferPointer(rebasing: bytes[push.token])
                if let list,
                    let found = suppression.suppression(batch, jobPart, token: token, list, at: seconds)
                {
                    record(
                        batch, position, as: .suppressed(cause: found.reason.name),
                        timestamp: found.since * 1000)
                    continue
                }
                if !coolDowns.isEmpty, let delay = coolDowns.postpone(batch, jobPart, position, at: now) {
                    record(batch, position, as: delay)
                    continue
                }
                #if FAILPOINTS
                    Failpoint.hit("send.before", token: token)
                #endif
                let taken = connection.send(
                    batch.head(of: jobPart, appTopic: topic), token: token,
                    id: batch.pushID(of: position, token: token),
                    payload: UnsafeRawBufferPointer(rebasing: bytes[push.payload]),
                    ticket: PushTicket(batch: batch.number, position: UInt32(position)), at: now)
                guard taken else {
                    batch.reopen(position)
                    break
                }
                #if FAILPOINTS
                    Failpoint.hit("send.after", token: token)
                #endif
                sent += 1
            }
        }
        counts.addSent(sent, of: batch, at: milliseconds)
        return sent
    }
}
