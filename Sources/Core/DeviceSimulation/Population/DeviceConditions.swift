import Glibc

/// The conditions of one device, as functions of time. The conditions are computed when a device needs them, and not stored.
/// So their changes need no events, even for a million idle devices.
///
/// The hours of a device start at the device's own minute, so that devices do not change together at full hours. A device
/// keeps its random numbers from noon to noon. So, until noon, a device leaves Wi-Fi only at an hour at which the share of
/// devices on Wi-Fi falls.
struct DeviceConditions {
    enum Network {
        case none, cellular, wifi
    }

    static let hour: UInt32 = 36_000
    private static let farthestOpening = 48
    private static let day = 24 * hour
    /// The 90th percentile of the standard normal distribution.
    private static let ninetieth = 1.281_552
    /// The 99th percentile of the standard normal distribution.
    private static let ninetyNinth = 2.326_348

    let draw: DeviceDraw
    let profile: DeviceProfile
    /// Tenths of a second from the device's first midnight to the model's start. The offset includes a whole day, so that it
    /// cannot be negative.
    private let offset: UInt64

    init(_ draw: DeviceDraw, _ profile: DeviceProfile, startsAt: Duration) {
        self.draw = draw
        self.profile = profile
        // The device's hour starts at most half an hour before or after the full hour.
        let phase = UInt64(clamping: draw.fraction(.phase) * Double(Self.hour))
        offset = UInt64(Self.day) + UInt64(startsAt.tenths) + phase - UInt64(Self.hour / 2)
    }

    /// The number of the device's hour, counted from the device's first midnight.
    func hourNumber(at time: ModelTime) -> UInt32 { UInt32(clamping: local(time) / UInt64(Self.hour)) }

    /// The number of the day, from midnight to midnight, for the daily budget.
    func dayNumber(at time: ModelTime) -> UInt32 { UInt32(clamping: local(time) / UInt64(Self.day)) }

    /// The start of the device's next hour.
    func nextHour(after time: ModelTime) -> ModelTime {
        time.advanced(by: Self.hour - UInt32(clamping: local(time) % UInt64(Self.hour)))
    }

    func network(at time: ModelTime) -> Network {
        let (hour, number) = (hourOfDay(time), draw.fraction(.network, night(time)))
        let wifi = profile.wifi[hour]
        if number < wifi { return .wifi }
        return number < wifi + profile.cellular[hour] ? .cellular : .none
    }

    func isCharging(at time: ModelTime) -> Bool {
        draw.fraction(.charging, night(time)) < profile.charging[hourOfDay(time)]
    }

    func isInLowPowerMode(at time: ModelTime) -> Bool {
        draw.fraction(.lowPower, night(time)) < profile.lowPower[hourOfDay(time)] && !isCharging(at: time)
    }

    /// Whether the user force-quits the app after each use.
    var isForceQuit: Bool { draw.fraction(.forceQuit) < profile.forceQuit }

    /// The time when the user closes the app; nil if the app is not in the foreground.
    func foregroundEnd(at time: ModelTime) -> ModelTime? {
        guard let opening = opening(inHourOf: time), opening <= time else { return nil }
        let end = opening.advanced(by: profile.openFor.tenths)
        return time < end ? end : nil
    }

    /// The first time between `time` and `end` at which the user opens the app; nil if the user does not open the app. Openings
    /// more than ``farthestOpening`` hours after `time` are not found.
    func nextOpening(after time: ModelTime, before end: ModelTime) -> ModelTime? {
        var hour = time
        for _ in 0...Self.farthestOpening {
            if let opening = opening(inHourOf: hour), opening > time { return opening < end ? opening : nil }
            hour = nextHour(after: hour)
            if hour >= end { return nil }
        }
        return nil
    }

    /// The device's download rate in bits per second; 0 without a network.
    func bitsPerSecond(at time: ModelTime) -> Double {
        let median =
            switch network(at: time) {
            case .wifi: profile.bandwidth.wifi
            case .cellular: profile.bandwidth.cellular
            case .none: 0.0
            }
        return median * pow(profile.bandwidth.spread, draw.normal(.bandwidth) / Self.ninetieth)
    }

    /// The probability that the system starts the app for a background push.
    func wakeShare(at time: ModelTime) -> Double {
        profile.wake.share(on: network(at: time), isCharging: isCharging(at: time))
    }

    /// The time from a push to its wake-up, in tenths of a second.
    /// - Parameter normal: a number with the standard normal distribution.
    func wakeDelay(_ normal: Double) -> UInt32 {
        let (p50, p99) = (Double(profile.delay.p50.tenths), Double(profile.delay.p99.tenths))
        guard p50 > 0 else { return 0 }
        return UInt32(clamping: p50 * exp(log(max(p99, p50) / p50) / Self.ninetyNinth * normal))
    }

    private func local(_ time: ModelTime) -> UInt64 { offset + UInt64(time.tenths) }

    private func hourOfDay(_ time: ModelTime) -> Int { Int(hourNumber(at: time) % UInt32(HourlyShare.hours)) }

    /// The number of the period from noon to noon that contains `time`.
    private func night(_ time: ModelTime) -> UInt32 {
        UInt32(clamping: (local(time) + UInt64(Self.day / 2)) / UInt64(Self.day))
    }

    /// The time in the device's hour at which the user opens the app; nil if the user does not open the app. The app is closed
    /// again before the hour ends.
    private func opening(inHourOf time: ModelTime) -> ModelTime? {
        let number = hourNumber(at: time)
        guard draw.fraction(.opens, number) < profile.opens[hourOfDay(time)] else { return nil }
        let room = Double(Self.hour - min(profile.openFor.tenths, Self.hour))
        let start =
            UInt64(number) * UInt64(Self.hour) + UInt64(clamping: draw.fraction(.openingTime, number) * room)
        return ModelTime(tenths: UInt32(clamping: start > offset ? start - offset : 0))
    }
}
