/// Devices that got too many pushes for their gateway: further pushes to them are delayed for a while, in order.
///
/// A device cools for 30 s after a 429, for twice as long with each further one in a row, up to 30 minutes, and for as long as
/// the gateway asks for; an acceptance ends that. Delayed pushes come back behind the push that was refused, one after the other, and what is new goes behind what waits.
/// There is room for so many devices; one more is not cooled. Devices are identified by a number, which two of them may share once
/// in a long while.
package struct CoolDown: Sendable {
    package static let first = Duration.seconds(30)
    package static let longest = Duration.seconds(1800)
    /// Between two delayed pushes: in Redis they must not change their order.
    static let spacing = Duration.seconds(1)
    /// Delayed pushes may come back so much later than planned.
    static let margin = Duration.seconds(5)

    private struct Device {
        /// 429 in a row, not counting those of pushes that were in flight together.
        var refusals: Int
        /// Nothing is sent before.
        var until: Instant
        /// A push that comes back before ``until`` is delayed for so long again.
        var shift: Duration
        /// When the last push that was delayed again comes back.
        var returned: Instant
        /// When the last of those that wait comes back.
        var tail: Instant

        /// All that waited has come back.
        func isOver(at now: Instant) -> Bool { now >= tail + CoolDown.margin }
    }

    private let most: Int
    private var devices: [UInt64: Device] = [:]

    package init(most: Int = 4096) { self.most = most }

    /// No device cools.
    package var isEmpty: Bool { devices.isEmpty }
    package var count: Int { devices.count }

    /// A push to the device was refused with 429.
    ///
    /// - Parameters:
    ///   - delays: between which and which it is tried again, if the gateway does not ask for more; the difference is
    ///     added to what is asked for.
    ///   - asked: what the gateway asked for.
    /// - Returns: how long it must be delayed at least.
    package mutating func refused(
        _ device: UInt64, delays: ClosedRange<Duration>, asked: Duration = .zero, at now: Instant
    ) -> Duration {
        func latest(_ wait: Duration) -> Instant {
            now + max(delays.lowerBound, wait) + (delays.upperBound - delays.lowerBound)
        }
        if var cooling = devices[device], now < cooling.until {
            // It was in flight together with the one before.
            let wait = max(cooling.tail + Self.spacing - now, asked)
            cooling.tail = latest(wait)
            devices[device] = cooling
            return wait
        }
        let known = devices[device]
        let usual = Jitter.doubled(Self.first, times: known?.refusals ?? 0, cap: Self.longest)
        let pause = max(usual, asked)
        guard known != nil || hasRoom(at: now) else { return pause }
        // Before it ends, all waiting pushes have come back and were delayed again.
        let waiting = known.flatMap { $0.isOver(at: now) ? nil : max($0.tail, now) + Self.margin }
        let wait = max(pause, waiting.map { $0 - now } ?? .zero)
        let shift = latest(wait) + Self.margin - now
        devices[device] = Device(
            refusals: min((known?.refusals ?? 0) + 1, 16), until: now + wait, shift: shift, returned: now,
            tail: (waiting ?? now) + shift)
        return wait
    }

    /// A push to the device was accepted.
    package mutating func accepted(_ device: UInt64, at now: Instant) {
        guard var cooling = devices[device] else { return }
        if cooling.isOver(at: now) {
            devices[device] = nil
        } else {
            (cooling.refusals, cooling.until) = (0, min(cooling.until, now))
            devices[device] = cooling
        }
    }

    /// How long a push to the device must be delayed; nil: it may be sent.
    ///
    /// - Parameter isReturned: it was delayed or refused before, so no waiting push goes before it.
    package mutating func postpone(_ device: UInt64, isReturned: Bool, at now: Instant) -> Duration? {
        guard var cooling = devices[device] else { return nil }
        if cooling.isOver(at: now) {
            // What cooled for long enough, and was not refused again for as long, begins again.
            if cooling.refusals == 0 || now >= cooling.tail + Self.longest { devices[device] = nil }
            return nil
        }
        if isReturned {
            guard now < cooling.until else { return nil }
            cooling.returned = max(now + cooling.shift, cooling.returned + Self.spacing)
            cooling.tail = max(cooling.tail, cooling.returned)
            devices[device] = cooling
            return cooling.returned - now
        }
        cooling.tail = max(cooling.tail, now) + Self.spacing
        devices[device] = cooling
        return cooling.tail - now
    }

    private mutating func hasRoom(at now: Instant) -> Bool {
        if devices.count >= most { devices = devices.filter { !$0.value.isOver(at: now) } }
        return devices.count < most
    }
}

/// Tells a gateway's throttling of everybody from that of a device which gets too much: the first hits several devices at a time.
package struct ThrottleMonitor: Hashable, Sendable {
    /// So many devices within so long are no coincidence, if they are a good part of all answers.
    private static let several = 3
    private static let span = Duration.seconds(2)

    private var devices: [UInt64] = []
    private var count = 0
    private var since: Instant?

    package init() {}

    /// A push to this device was answered with 429.
    ///
    /// - Parameter device: identifies the device.
    package mutating func throttled(_ device: UInt64) {
        count += 1
        if devices.count < Self.several, !devices.contains(device) { devices.append(device) }
    }

    /// What the answers since the last call were, as far as that is clear.
    ///
    /// - Returns: answers that were trouble, and answers that each were about one device.
    package mutating func take(at now: Instant) -> (troubles: Int, others: Int) {
        guard count > 0 else {
            if let since, now - since >= Self.span { (devices, self.since) = ([], nil) }
            return (0, 0)
        }
        if devices.count >= Self.several {
            defer { count = 0 }
            since = now
            return (count, 0)
        }
        let begun = since ?? now
        since = begun
        guard now - begun >= Self.span else { return (0, 0) }
        defer { (devices, count, since) = ([], 0, nil) }
        return (0, count)
    }
}
