import PushModel

/// Pushes of a batch that have been in the air for long, and the way past those of others.
extension HeldBatch {
    /// How the batch may be sent, if it comes next in its lane.
    var way: ShardRoute.Way {
        let way = route.way(of: number)
        guard way != .none, !route.setAside.isEmpty || isBehindAside else { return way }
        if aside.change != route.changes { lookAside() }
        return isBehindAside ? .none : way
    }

    private func lookAside() {
        let waits = (cursor..<count).contains {
            positions[$0] == .open && route.setAside[token(of: $0)] != nil
        }
        aside.change = route.changes
        isBehindAside = waits
    }

    /// What is in the air is not waited for any more, but by pushes to the same devices.
    func setAside() {
        for position in positions.indices where positions[position] == .inAir {
            guard aside.positions.insert(position).inserted else { continue }
            route.setAside(token(of: position))
        }
    }

    /// The position is about to land.
    func takeBack(_ position: Int) {
        if aside.positions.remove(position) != nil { route.takeBack(token(of: position)) }
    }

    private func token(of position: Int) -> ArraySlice<UInt8> { batch.bytes[batch.pushes[position].token] }
}
