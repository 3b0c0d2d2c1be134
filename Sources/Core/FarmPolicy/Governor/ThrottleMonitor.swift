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
