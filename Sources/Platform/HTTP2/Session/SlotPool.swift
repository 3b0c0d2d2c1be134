import CNghttp2

/// The state of one stream. The id is 0 in an unused slot.
protocol StreamSlot: BitwiseCopyable {
    var id: Int32 { get }
}

/// A pool of stream states with stable addresses.
struct SlotPool<Slot: StreamSlot>: ~Copyable {
    /// This type is a class because of a compiler fault. Swift 6.3 does not call the deinitializer of a generic noncopyable type
    /// when it optimises each file separately. A release is optimised as whole modules, which does not have the fault.
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
    private var latest: (id: Int32, slot: UnsafeMutablePointer<Slot>)?

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

    mutating func release(_ slot: UnsafeMutablePointer<Slot>) {
        slot.pointee = blank
        latest = nil
        used -= 1
        free.append(slot)
    }

    /// Returns the slot of an open stream. libnghttp2 stores the address of the slot as the user data of the stream.
    @inline(__always)
    mutating func find(_ id: Int32, in session: OpaquePointer) -> UnsafeMutablePointer<Slot>? {
        if let latest, latest.id == id { return latest.slot }
        guard let data = nghttp2_session_get_stream_user_data(session, id) else { return nil }
        let slot = data.assumingMemoryBound(to: Slot.self)
        guard slot.pointee.id == id else { return nil }  // The stream was abandoned before.
        latest = (id, slot)
        return slot
    }

    /// Returns the slots whose content matches; without an argument, all used slots. The search checks every slot, so call this
    /// function only after rare events.
    func all(where matches: (Slot) -> Bool = { $0.id != 0 }) -> [UnsafeMutablePointer<Slot>] {
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

/// Events in the order in which they happened, in an array that is reused after all events are read.
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
