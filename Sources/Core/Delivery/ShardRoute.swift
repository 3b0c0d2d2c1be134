/// Chooses the connection for the pushes of one shard and lane, so that two pushes to a device never overtake
/// each other.
///
/// While pushes are in flight, later pushes follow over the same connection. If that connection is full and other connections are
/// not, later pushes wait until the pushes in flight have an outcome. A batch is free if no device occurs twice in the batch, and
/// no device of the batch occurs in another held batch. A free batch may use every connection. A later batch that shares a device
/// with a free batch waits until the free batch has all its outcomes. The route knows connections only by identity.
package final class ShardRoute {
    /// Which connections a batch may use.
    package enum ConnectionChoice: Equatable {
        /// The batch may use any connection, because no push in flight goes to a device of the batch.
        case any
        /// The batch must use this connection. If the batch becomes free, the batch may use another connection.
        case following(ObjectIdentifier)
        /// The batch must wait until the pushes in flight have outcomes.
        case none
    }

    private enum Use {
        case single(ObjectIdentifier)
        /// No more pushes may be sent until the pushes in flight have outcomes.
        case closed
    }

    /// A held batch on the route.
    private struct Member {
        weak var batch: HeldBatch?
        /// The numbers of older batches that share a device with this batch; nil until computed. Batches that join later are
        /// younger, so the list is computed only once.
        var sharers: [UInt32]?
        /// The number of another batch that shares a device with this batch. This batch cannot be free while the other batch is
        /// held.
        var boundTo: UInt32?
    }

    private var members: [UInt32: Member] = [:]
    private var freeCount = 0
    /// The numbers of batches that must wait for a free batch, and of younger batches that share a device with a waiting batch.
    private var heldUp: Set<UInt32> = []
    /// Batches whose positions are being compared with Redis's map of the positions. Younger batches wait until the comparison
    /// is done.
    var uncompared: Set<UInt32> = []
    /// The number of pushes in flight of batches that are not free.
    var inFlight = 0 {
        didSet { if inFlight == 0 { use = nil } }
    }
    private var use: Use?

    /// The number of held batches.
    var batches: Int { members.count }

    func join(_ batch: HeldBatch) { members[batch.number] = Member(batch: batch) }

    /// Removes a batch from the route. The batch must have no pushes in flight.
    func leave(_ batch: HeldBatch) {
        uncompared.remove(batch.number)
        heldUp.remove(batch.number)
        if members.removeValue(forKey: batch.number) != nil, batch.isFree { freeCount -= 1 }
    }

    /// Returns which connections the next batch of a lane may use.
    package func connectionChoice(for batch: UInt32) -> ConnectionChoice {
        if !uncompared.isEmpty, uncompared.contains(where: { $0 < batch }) { return .none }
        if freeCount > 0 || !heldUp.isEmpty {
            if members[batch]?.batch?.isFree == true { return .any }
            if freeCount > 0 && waitsForFree(batch) || isBehindHeldUp(batch) {
                heldUp.insert(batch)
                return .none
            }
            heldUp.remove(batch)
        }
        return switch use {
        case nil: .any
        case .single(let connection): .following(connection)
        case .closed: .none
        }
    }

    /// Sends no more pushes over the connection in use, because other connections have room and this connection has none.
    package func close() {
        if case .single = use { use = .closed }
    }

    /// Notes that pushes of the batch were sent over the connection.
    package func sent(over connection: ObjectIdentifier, by batch: HeldBatch) {
        if inFlight > 0, use == nil, !batch.isFree { use = .single(connection) }
    }

    // MARK: Free batches

    /// Makes a batch free if no device occurs twice in the batch, and no device of the batch occurs in another held batch.
    ///
    /// - Returns: whether the batch is free.
    package func free(_ batch: HeldBatch) -> Bool {
        if batch.isFree { return true }
        guard let member = members[batch.number] else { return false }
        if let other = member.boundTo, members[other] != nil { return false }
        guard batch.isOfDistinctDevices else { return false }
        for (number, other) in members where number != batch.number {
            guard let other = other.batch, !other.devices.isDisjoint(with: batch.devices) else { continue }
            members[batch.number]?.boundTo = number
            return false
        }
        inFlight -= batch.inFlight
        batch.isFree = true
        freeCount += 1
        return true
    }

    /// Whether an older waiting batch with unsent pushes shares a device with this batch.
    private func isBehindHeldUp(_ number: UInt32) -> Bool {
        guard !heldUp.isEmpty else { return false }
        return olderSharers(of: number).contains { heldUp.contains($0) }
    }

    /// Whether an older free batch shares a device with this batch. A batch that shares a device with an older free batch waits
    /// until the free batch has all its outcomes.
    private func waitsForFree(_ number: UInt32) -> Bool {
        olderSharers(of: number).contains { older in
            guard let batch = members[older]?.batch else { return false }
            return batch.isFree && !batch.isComplete
        }
    }

    /// Returns the older batches that share a device with this batch. The result is computed once.
    private func olderSharers(of number: UInt32) -> [UInt32] {
        guard let member = members[number], let batch = member.batch else { return [] }
        if let known = member.sharers { return known }
        let found = members.compactMap { older, other -> UInt32? in
            guard older < number, let other = other.batch, !other.devices.isDisjoint(with: batch.devices)
            else {
                return nil
            }
            return older
        }
        members[number]?.sharers = found
        return found
    }
}
