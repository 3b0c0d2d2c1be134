/// Whose turn it is among apps that share a worker, so that each gets the same share of what is given out.
///
/// What an app has been given is charged to it, and the one with the least goes first. An app that had
/// nothing waiting for a while starts level with the others; it cannot save up.
package struct FairTurn: Hashable, Sendable {
    private var charged: [Int]
    /// The least charge among those that waited at the last turn.
    private var floor = 0
    private var last: Int

    package init(apps: Int) {
        charged = Array(repeating: 0, count: apps)
        last = apps - 1
    }

    /// The app whose turn it is; nil if none waits. Among equals it goes round.
    package mutating func next(isWaiting: (Int) -> Bool) -> Int? {
        var chosen: Int?
        for step in 1...max(1, charged.count) where !charged.isEmpty {
            let app = (last + step) % charged.count
            guard isWaiting(app) else { continue }
            charged[app] = max(charged[app], floor)
            if let best = chosen, charged[best] <= charged[app] { continue }
            chosen = app
        }
        guard let chosen else { return nil }
        floor = charged[chosen]
        last = chosen
        return chosen
    }

    /// `app` was given so much: pushes, or credit.
    package mutating func charge(_ amount: Int, to app: Int) { charged[app] += amount }

    /// Divides `credit` evenly among those that wait; what is left over goes round. Charges nothing.
    package mutating func divide(_ credit: Int, isWaiting: (Int) -> Bool) -> [Int] {
        var shares = Array(repeating: 0, count: charged.count)
        let waiting = charged.indices.map { (last + 1 + $0) % charged.count }.filter(isWaiting)
        guard !waiting.isEmpty, credit > 0 else { return shares }
        let (share, left) = credit.quotientAndRemainder(dividingBy: waiting.count)
        for (position, app) in waiting.enumerated() { shares[app] = share + (position < left ? 1 : 0) }
        if left > 0 { last = waiting[left - 1] }
        return shares
    }
}
