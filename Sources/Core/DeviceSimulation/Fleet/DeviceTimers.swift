/// The next event of each device: a binary heap in which every device has at most one entry.
struct DeviceTimers {
    private static let absent = UInt32.max

    private var heap: [UInt32] = []
    /// For each device: the time when its event is due. The time is valid only if the device has an entry.
    private var due: [ModelTime] = []
    /// For each device: its place in the heap, or ``absent``.
    private var places: [UInt32] = []

    /// The number of devices with an entry.
    var count: Int { heap.count }
    var nextDue: ModelTime? { heap.first.map { due[Int($0)] } }

    /// Adds a device without an entry. The device's number is the number of devices that were added before.
    mutating func addDevice() {
        due.append(.never)
        places.append(Self.absent)
    }

    /// The time of the device's next event; nil if the device has no entry.
    func due(of device: UInt32) -> ModelTime? {
        places[Int(device)] == Self.absent ? nil : due[Int(device)]
    }

    /// Sets the time of the device's next event, and replaces an earlier entry.
    mutating func set(_ device: UInt32, to time: ModelTime) {
        let place = places[Int(device)]
        due[Int(device)] = time
        if place == Self.absent {
            places[Int(device)] = UInt32(clamping: heap.count)
            heap.append(device)
            moveUp(heap.count - 1)
        } else {
            moveDown(moveUp(Int(place)))
        }
    }

    mutating func cancel(_ device: UInt32) {
        let place = places[Int(device)]
        guard place != Self.absent else { return }
        places[Int(device)] = Self.absent
        let last = heap.removeLast()
        guard last != device else { return }
        heap[Int(place)] = last
        places[Int(last)] = place
        moveDown(moveUp(Int(place)))
    }

    /// Removes and returns the device whose event is due first, if the event is due at `time` or earlier.
    mutating func takeDue(_ time: ModelTime) -> (device: UInt32, due: ModelTime)? {
        guard let device = heap.first, due[Int(device)] <= time else { return nil }
        cancel(device)
        return (device, due[Int(device)])
    }

    /// - Returns: the place of the entry after the move.
    @discardableResult
    private mutating func moveUp(_ start: Int) -> Int {
        var place = start
        while place > 0, isEarlier(heap[place], heap[(place - 1) / 2]) {
            exchange(place, (place - 1) / 2)
            place = (place - 1) / 2
        }
        return place
    }

    private mutating func moveDown(_ start: Int) {
        var place = start
        while true {
            var first = place
            for child in [2 * place + 1, 2 * place + 2]
            where child < heap.count && isEarlier(heap[child], heap[first]) {
                first = child
            }
            guard first != place else { return }
            exchange(place, first)
            place = first
        }
    }

    /// Events at the same time happen in the order of the devices' numbers.
    private func isEarlier(_ a: UInt32, _ b: UInt32) -> Bool {
        let (first, second) = (due[Int(a)], due[Int(b)])
        return first == second ? a < b : first < second
    }

    private mutating func exchange(_ a: Int, _ b: Int) {
        heap.swapAt(a, b)
        places[Int(heap[a])] = UInt32(clamping: a)
        places[Int(heap[b])] = UInt32(clamping: b)
    }
}
