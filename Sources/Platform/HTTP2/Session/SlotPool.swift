/// A pool of per-stream states with stable addresses.
struct SlotPool<Slot: BitwiseCopyable>: ~Copyable {
    /// An object, because the compiler forgets the deinitializer of a generic type that cannot be copied when it optimises
    /// file by file (Swift 6.3; not in whole modules, which releases are built of).
    private final class Memory {
        var slabs: [UnsafeMutableBufferPointer<Slot>] = []

        deinit {
            for slab in slabs { slab.deallocate() }
        }
    }

    private let memory = Memory()
    private var free: [UnsafeMutablePointer<Slot>] = []
    private(set) var used = 0
    private let blank: Slot

    init(blank: Slot) {
        self.blank = blank
    }

    mutating func take() -> UnsafeMutablePointer<Slot> {
        if free.isEmpty { grow() }
        used += 1
        let slot = free.removeLast()
        slot.pointee = blank
        return slot
    }

    mutating func giveBack(_ slot: UnsafeMutablePointer<Slot>) {
        slot.pointee = blank
        used -= 1
        free.append(slot)
    }

    /// The slots whose content matches; for rare events only, it looks at every one.
    func all(where matches: (Slot) -> Bool) -> [UnsafeMutablePointer<Slot>] {
        memory.slabs.flatMap { slab in
            slab.indices.filter { matches(slab[$0]) }.map { slab.baseAddress! + $0 }
        }
    }

    private mutating func grow() {
        let slab = UnsafeMutableBufferPointer<Slot>.allocate(capacity: memory.slabs.isEmpty ? 64 : 256)
        slab.initialize(repeating: blank)
        memory.slabs.append(slab)
        for index in slab.indices.reversed() { free.append(slab.baseAddress! + index) }
    }
}

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
