/// Over which connection the pushes of one shard and lane go, so that two to a device never overtake each other.
///
/// As long as some are in flight, the others follow them over the same connection; if that is full and others are not, they wait
/// until those have landed. A batch that has no device twice, and shares none with another held batch, is free: it may use every
/// connection, and says nothing about the others. One that comes later and shares a device with it waits until all of it has
/// landed. Knows no connection but by its identity.
package final class ShardRoute {
    /// A way that is open to a batch.
    package enum Way: Equatable {
        /// Any connection will do: nothing is in flight that it must not overtake.
        case any
        /// This connection; another one as well if the batch can be freed.
        case following(ObjectIdentifier)
        /// What is in flight has to land first.
        case none
    }

    private enum Use {
        case single(ObjectIdentifier)
        /// Nothing follows over it any more.
        case left
    }

    /// A held batch.
    private struct Member {
        weak var batch: HeldBatch?
        /// Older batches that it shares a device with; nil: not looked at yet. No older one joins later.
        var sharers: [UInt32]?
        /// One that it shares a device with, and so cannot be freed.
        var boundTo: UInt32?
    }

    private var members: [UInt32: Member] = [:]
    private var freeCount = 0
    /// Batches that wait for a free one, and younger ones that share a device with them.
    private var heldUp: Set<UInt32> = []
    /// Batches that are being compared with Redis's map: younger ones wait for them.
    var uncompared: Set<UInt32> = []
    /// Pushes in flight of the batches that are not free.
    var inFlight = 0 {
        didSet { if inFlight == 0 { use = nil } }
    }
    private var use: Use?

    /// Held batches.
    var batches: Int { members.count }

    func join(_ batch: HeldBatch) { members[batch.number] = Member(batch: batch) }

    /// Nothing of the batch is in flight.
    func leave(_ batch: HeldBatch) {
        uncompared.remove(batch.number)
        heldUp.remove(batch.number)
        if members.removeValue(forKey: batch.number) != nil, batch.isFree { freeCount -= 1 }
    }

    /// How a batch that comes next in its lane may be sent.
    package func way(of batch: UInt32) -> Way {
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
        case .left: .none
        }
    }

    /// Its connection has no room and others have: more pushes would only fill it further.
    package func leave() {
        if case .single = use { use = .left }
    }

    /// Pushes of the batch have left over the connection.
    package func left(over connection: ObjectIdentifier, by batch: HeldBatch) {
        if inFlight > 0, use == nil, !batch.isFree { use = .single(connection) }
    }

    // MARK: Free batches

    /// Frees a batch, if it has no device twice and shares none with another held batch.
    ///
    /// - Returns: whether it is free.
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

    /// An older batch that shares a device with this one waits, and has pushes that are not sent.
    private func isBehindHeldUp(_ number: UInt32) -> Bool {
        guard !heldUp.isEmpty else { return false }
        return olderSharers(of: number).contains { heldUp.contains($0) }
    }

    /// A batch that came later than a free one, and shares a device with it, waits for it. One that was there before shares none.
    private func waitsForFree(_ number: UInt32) -> Bool {
        olderSharers(of: number).contains { older in
            guard let batch = members[older]?.batch else { return false }
            return batch.isFree && !batch.isComplete
        }
    }

    /// Looks at the devices of all older batches once, and at those batches never again.
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
