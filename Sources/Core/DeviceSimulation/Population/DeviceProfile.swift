/// The behaviour of one kind of devices.
package struct DeviceProfile: Hashable, Sendable {
    /// The share of all devices, from 0 to 1, that have this profile.
    package var share = 1.0

    /// The share of devices that are on Wi-Fi.
    package var wifi = HourlyShare(1)
    /// The share of devices that are on mobile data. The remaining devices are offline.
    package var cellular = HourlyShare(0)
    package var charging = HourlyShare(1)
    /// The share of devices in low power mode. A charging device is never in low power mode.
    package var lowPower = HourlyShare(0)
    /// The probability that the user opens the app during an hour.
    package var opens = HourlyShare(0)
    /// How long an opened app stays in the foreground; at most an hour.
    package var openFor = Duration.seconds(180)
    /// The share of devices whose user force-quits the app after each use.
    package var forceQuit = 0.0

    /// The greatest number of wake-ups by background pushes in an hour.
    package var allowance = 3
    /// The time per day that the app may run for background pushes. A charging device uses none of this time.
    package var dailyBudget = Duration.seconds(600)
    package var wake = WakeShares()
    package var delay = WakeDelay()
    package var bandwidth = Bandwidth()
    /// The time from the app's start to the first byte of a download. An app that has nothing to download ends its run after
    /// this time.
    package var askTime = Duration.milliseconds(1500)
    /// The probability that an interrupted download resumes; otherwise the download starts over.
    package var resumes = 0.7

    package init() {}
}

/// The probabilities that the system starts the app for a background push if no other rule decides about the push.
package struct WakeShares: Hashable, Sendable {
    package var wifiCharging = 1.0
    package var wifi = 1.0
    package var cellularCharging = 1.0
    package var cellular = 1.0

    package init() {}

    func share(on network: DeviceConditions.Network, isCharging: Bool) -> Double {
        switch network {
        case .wifi: isCharging ? wifiCharging : wifi
        case .cellular: isCharging ? cellularCharging : cellular
        case .none: 0
        }
    }
}

/// The time from a background push to the wake-up: a log-normal distribution.
package struct WakeDelay: Hashable, Sendable {
    /// The median.
    package var p50 = Duration.seconds(20)
    /// The 99th percentile of the time; at least the median.
    package var p99 = Duration.seconds(300)

    package init() {}
}

/// The download rates of a profile, in bits per second.
package struct Bandwidth: Hashable, Sendable {
    /// The median rate of the devices on Wi-Fi.
    package var wifi = 20e6
    /// The median rate of the devices on mobile data.
    package var cellular = 8e6
    /// How much the rates differ: 90 % of the devices exceed the median divided by this number, which is at least 1.
    package var spread = 2.0

    package init() {}
}

/// A share of devices, from 0 to 1, for each hour of the day.
package struct HourlyShare: Hashable, Sendable {
    package static let hours = 24

    private let shares: [Double]

    /// The same share at all hours.
    package init(_ share: Double) { shares = [Double](repeating: share, count: Self.hours) }

    /// - Parameter shares: 24 shares; the first share applies from 00:00 to 01:00.
    package init(hours shares: [Double]) {
        precondition(shares.count == Self.hours, "\(shares.count) hours")
        self.shares = shares
    }

    /// - Parameter hour: an hour of the day, from 0 to 23.
    package subscript(hour: Int) -> Double { shares[hour] }
}
