/// Events in the order in which they happened, over an array that is reused once it has been drained.
struct EventQueue<Event> {
    private var events: [Event] = []
    private var next = 0

    var isEmpty: Bool { next == events.count }

    mutating func append(_ event: Event) {
        events.append(event)
    }

    mutating func popFirst() -> Event? {
        if next == events.count {
            events.removeAll(keepingCapacity: true)
            next = 0
            return nil
        }
        next += 1
        return events[next - 1]
    }
}
