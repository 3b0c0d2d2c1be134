/// Answers that wait for their time, soonest first (a binary heap).
struct DelayLine {
    struct Waiting {
        /// Milliseconds of the loop's clock.
        let due: UInt64
        let connection: Int64
        let stream: Int32
        let reply: Reply
        let id: EchoedID
    }

    private var heap: [Waiting] = []

    var nextDue: UInt64? { heap.first?.due }

    mutating func add(_ waiting: Waiting) {
        heap.append(waiting)
        var child = heap.count - 1
        while child > 0, heap[child].due < heap[(child - 1) / 2].due {
            heap.swapAt(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
    }

    /// The soonest one, if its time has come.
    mutating func popDue(_ now: UInt64) -> Waiting? {
        guard let first = heap.first, first.due <= now else { return nil }
        heap.swapAt(0, heap.count - 1)
        heap.removeLast()
        var parent = 0
        while true {
            var least = parent
            for child in [2 * parent + 1, 2 * parent + 2]
            where child < heap.count && heap[child].due < heap[least].due {
                least = child
            }
            if least == parent { return first }
            heap.swapAt(parent, least)
            parent = least
        }
    }
}
