import PushModel

/// All devices of a model. The first push to a token creates the device.
///
/// The time of a call must not be earlier than the time of the previous call.
/// A device needs at most 64 bytes of memory, and also the bytes of its token, up to 8 bytes in the index of tokens, and one
/// byte for each edition. Arrays may reserve twice as much memory.
package struct SimulatedFleet: Sendable {
    package let population: DevicePopulation
    package private(set) var editions = EditionTable()
    package private(set) var counts = SimulatedDeviceCounts()
    /// The devices that are done, in the order of time.
    package private(set) var done = DoneLog()
    private var tokens = SimulatedDeviceTokens()
    private var states: [SimulatedDeviceState] = []
    private var timers = DeviceTimers()

    package init(_ population: DevicePopulation) { self.population = population }

    package var deviceCount: Int { states.count }
    /// The number of devices with a future event.
    package var eventCount: Int { timers.count }
    /// The number of devices with a push in their slot. Reads all devices.
    package var heldCount: Int { states.count { $0.held != nil } }
    package var nextDue: ModelTime? { timers.nextDue }

    /// Returns the number of a list of editions for ``SimulatedPush/editions``. A list that exceeds a limit of ``EditionTable``
    /// is counted, and the result is the empty list.
    package mutating func editionList(_ names: [String]) -> EditionList {
        guard let list = editions.list(names) else {
            counts.refusedEditionLists += 1
            return .none
        }
        return list
    }

    /// Delivers a push to the device with the token.
    /// - Returns: the events on all devices until this time, in the order of time.
    package mutating func receive(
        _ push: SimulatedPush, token: UnsafeRawBufferPointer, at time: ModelTime
    ) -> [DeviceAction] {
        var actions = advance(to: time)
        counts.add(push.kind)
        guard let number = device(with: token) else {
            counts.pushesBeyondLimit += 1
            return actions
        }
        editions.countSend(push.editions, to: number)
        var device = load(number)
        device.receive(push, at: time, due: timers.due(of: number), editions: &editions)
        store(device, into: &actions)
        return actions
    }

    /// Carries out the events that are due.
    /// - Parameter limit: the greatest number of events. If more events are due, ``nextDue`` is `time` or earlier after the
    ///   call.
    package mutating func advance(to time: ModelTime, limit: Int = .max) -> [DeviceAction] {
        var actions: [DeviceAction] = []
        var rest = limit
        while rest > 0, let (number, due) = timers.takeDue(time) {
            var device = load(number)
            device.eventDue(at: due, editions: &editions)
            store(device, into: &actions)
            rest -= 1
        }
        return actions
    }

    package func token(of device: UInt32) -> String {
        tokens.withToken(of: device) { Hexadecimal.text(of: $0) }
    }

    // MARK: Devices

    /// Returns the device with the token, and creates the device if the token is new; nil if the fleet already has the greatest
    /// number of devices.
    private mutating func device(with token: UnsafeRawBufferPointer) -> UInt32? {
        let hash = XXH64.hash(token, seed: population.seed)
        if let number = tokens.find(token, hash: hash) { return number }
        guard states.count < population.mostDevices else { return nil }
        let profile = population.profileNumber(DeviceDraw(hash: hash).fraction(.profile))
        states.append(SimulatedDeviceState(profile: profile))
        timers.addDevice()
        return tokens.add(token, hash: hash, seed: population.seed)
    }

    private func load(_ number: UInt32) -> SimulatedDevice {
        let state = states[Int(number)]
        let hash = tokens.withToken(of: number) { XXH64.hash($0, seed: population.seed) }
        let conditions = DeviceConditions(
            DeviceDraw(hash: hash), population.profiles[Int(state.profile)].profile,
            startsAt: population.startsAt)
        return SimulatedDevice(number, conditions, state, editionKilobytes: population.editionKilobytes)
    }

    private mutating func store(_ device: SimulatedDevice, into actions: inout [DeviceAction]) {
        states[Int(device.number)] = device.state
        // An event at ``ModelTime/never`` gets no timer. The model's time cannot pass this time, so the event would be due
        // again and again.
        if let due = device.due, due < .never {
            timers.set(device.number, to: due)
        } else {
            timers.cancel(device.number)
        }
        for action in device.actions {
            counts.add(action)
            if case .done(let edition, let sends) = action.kind {
                done.append(
                    DoneLog.Entry(time: action.time, device: action.device, edition: edition, sends: sends))
            }
        }
        actions += device.actions
    }
}

/// The devices that are done. Each device is listed once for each edition.
package struct DoneLog: Sendable {
    package struct Entry: Hashable, Sendable {
        package let time: ModelTime
        package let device: UInt32
        package let edition: Edition
        package let sends: UInt8
    }

    package private(set) var entries: [Entry] = []

    mutating func append(_ entry: Entry) { entries.append(entry) }
}
