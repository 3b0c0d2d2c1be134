/// Delays pushes to devices for which the gateway got too many pushes, and keeps the order of the pushes.
///
/// After a 429 response, no push is sent to the device for 30 s, which is its cool-down. Each further 429 in a row
/// doubles this time, up to 30 minutes. If the gateway requests a longer time, the requested time applies. An accepted
/// push ends the cool-down. The refused push is sent again first, then the pushes that were delayed, one by one, then
/// new pushes. The number of devices in cool-down is limited; further devices get no cool-down. A number from the token
/// identifies a device, and two devices very rarely have the same number.
package struct CoolDown: Sendable {
    package static let first = Duration.seconds(30)
    package static let longest = Duration.seconds(1800)
    /// The time between two delayed pushes, which keeps their order in Redis.
    static let spacing = Duration.seconds(1)
    /// How much later than planned a delayed push may return.
    static let margin = Duration.seconds(5)

    private struct Device {
        /// The number of 429 responses in a row. Several 429 responses to pushes that were in flight at the same time
        /// count as one.
        var refusals: Int
        /// No push is sent to the device before this time.
        var until: Instant
        /// By how much a delayed push that returns before ``until`` is delayed once more.
        var shift: Duration
        /// When the last push returns that was delayed once more.
        var returned: Instant
        /// When the last delayed push returns.
        var tail: Instant

        /// Whether all delayed pushes have returned.
        func isOver(at now: Instant) -> Bool { now >= tail + CoolDown.margin }
    }

    private let most: Int
    private var devices: [UInt64: Device] = [:]

    package init(most: Int = 4096) { self.most = most }

    /// Whether no device is in cool-down.
    package var isEmpty: Bool { devices.isEmpty }
    package var count: Int { devices.count }

    /// Notes that the gateway refused a push to the device with 429.
    ///
    /// - Parameters:
    ///   - delays: the range of the retry delay. If the gateway requests a delay longer than the lower bound, the range
    ///     is shifted so that it begins at the requested delay.
    ///   - asked: the delay that the gateway requested.
    /// - Returns: the minimum delay of the push.
    package mutating func refused(
        _ device: UInt64, delays: ClosedRange<Duration>, asked: Duration = .zero, at now: Instant
    ) -> Duration {
        func latest(_ wait: Duration) -> Instant {
            now + max(delays.lowerBound, wait) + (delays.upperBound - delays.lowerBound)
        }
        if var cooling = devices[device], now < cooling.until {
            // The push was already in flight when the cool-down began, so this refusal does not lengthen the cool-down.
            let wait = max(cooling.tail + Self.spacing - now, asked)
            cooling.tail = latest(wait)
            devices[device] = cooling
            return wait
        }
        let known = devices[device]
        let usual = Jitter.doubled(Self.first, times: known?.refusals ?? 0, cap: Self.longest)
        let pause = max(usual, asked)
        guard known != nil || hasRoom(at: now) else { return pause }
        // When all pushes that the previous cool-down had delayed have returned, so that the new cool-down has delayed
        // them again; nil if all have returned already.
        let waiting = known.flatMap { $0.isOver(at: now) ? nil : max($0.tail, now) + Self.margin }
        let wait = max(pause, waiting.map { $0 - now } ?? .zero)
        let shift = latest(wait) + Self.margin - now
        devices[device] = Device(
            refusals: min((known?.refusals ?? 0) + 1, 16), until: now + wait, shift: shift, returned: now,
            tail: (waiting ?? now) + shift)
        return wait
    }

    /// Notes that the gateway accepted a push to the device.
    package mutating func accepted(_ device: UInt64, at now: Instant) {
        guard var cooling = devices[device] else { return }
        if cooling.isOver(at: now) {
            devices[device] = nil
        } else {
            (cooling.refusals, cooling.until) = (0, min(cooling.until, now))
            devices[device] = cooling
        }
    }

    /// Returns how long a push to the device must be delayed; nil when it may be sent.
    ///
    /// - Parameter isReturned: whether the push was delayed or refused before. Such a push need not wait for the
    ///   delayed pushes, because it is one of them.
    package mutating func postpone(_ device: UInt64, isReturned: Bool, at now: Instant) -> Duration? {
        guard var cooling = devices[device] else { return nil }
        if cooling.isOver(at: now) {
            // A long time after the last 429, forget the device, so that its next cool-down lasts 30 s again.
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

/// Distinguishes 429 responses of a gateway that has trouble from 429 responses that concern only one device. If a
/// gateway has trouble, several devices get 429 responses within a short time.
package struct ThrottleMonitor: Hashable, Sendable {
    /// If at least `several` devices get 429 responses within `span`, the 429 responses indicate trouble of the
    /// gateway.
    private static let several = 3
    private static let span = Duration.seconds(2)

    private var devices: [UInt64] = []
    private var count = 0
    private var since: Instant?

    package init() {}

    /// Notes a 429 response to a push to this device.
    ///
    /// - Parameter device: a number that identifies the device.
    package mutating func throttled(_ device: UInt64) {
        count += 1
        if devices.count < Self.several, !devices.contains(device) { devices.append(device) }
    }

    /// Classifies the 429 responses since the last call. While it is not clear whether they indicate trouble, this
    /// function counts neither, and a later call counts them.
    ///
    /// - Returns: the number of responses that indicate gateway trouble, and the number of responses that concern one device.
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
