import DeviceSimulation

extension DevicePopulation {
    /// The keys of a device model outside `profiles`.
    static var keys: [ConfigurationKey<DevicePopulation>] {
        [
            .init("time_factor", \.timeFactor, .decimal(0.001...10_000, "seconds of the model a second")),
            .init("starts_at", \.startsAt, .parsed(timeOfDay)),
            .init("edition_key", \.editionKey, .text),
            .init("edition_size", \.editionKilobytes, .parsed(kilobytes)),
            .init("most_devices", \.mostDevices, .number(1...50_000_000)),
        ]
    }

    /// The keys of one profile.
    static var profileKeys: [ConfigurationKey<DeviceProfile>] {
        [
            .init("share", \.share, .share),
            .init("wifi", \.wifi, .hourlyShare, isList: true),
            .init("cellular", \.cellular, .hourlyShare, isList: true),
            .init("charging", \.charging, .hourlyShare, isList: true),
            .init("low_power", \.lowPower, .hourlyShare, isList: true),
            .init("opens", \.opens, .hourlyShare, isList: true),
            .init("open_for", \.openFor, .duration(upTo: 3600)),
            .init("force_quit", \.forceQuit, .share),
            .init("allowance", \.allowance, .number(0...60)),
            .init("daily_budget", \.dailyBudget, .duration(upTo: 3600)),
            .init("wake.wifi_charging", \.wake.wifiCharging, .share),
            .init("wake.wifi", \.wake.wifi, .share),
            .init("wake.cellular_charging", \.wake.cellularCharging, .share),
            .init("wake.cellular", \.wake.cellular, .share),
            .init("delay.p50", \.delay.p50, .duration(upTo: 86_400)),
            .init("delay.p99", \.delay.p99, .duration(upTo: 86_400)),
            .init("bandwidth.wifi", \.bandwidth.wifi, .bandwidth),
            .init("bandwidth.cellular", \.bandwidth.cellular, .bandwidth),
            .init("bandwidth.spread", \.bandwidth.spread, .decimal(1...100, "a ratio")),
            .init("ask_time", \.askTime, .duration(upTo: 30)),
            .init("resumes", \.resumes, .share),
        ]
    }

    /// Reads a time of day, such as 03:30, as the time since midnight.
    private static func timeOfDay(_ text: String) throws(InvalidValue) -> Duration {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, parts.allSatisfy({ $0.utf8.count == 2 }), let hour = Int(foreign: parts[0]),
            let minute = Int(foreign: parts[1]), (0...23).contains(hour), (0...59).contains(minute)
        else {
            throw InvalidValue("expected a time of day such as 03:30, found \"\(text.prefix(40))\"")
        }
        return .seconds(hour * 3600 + minute * 60)
    }

    /// Reads a size such as 500kB, 30MB or 1.5GB, in kilobytes.
    private static func kilobytes(_ text: String) throws(InvalidValue) -> UInt32 {
        for (unit, kilobytes) in [("kB", 1.0), ("MB", 1e3), ("GB", 1e6)] where text.hasSuffix(unit) {
            guard let number = plainDecimal(text.dropLast(unit.utf8.count)),
                case let size = (number * kilobytes).rounded(), (1...1e7).contains(size)
            else { break }
            return UInt32(clamping: size)
        }
        throw InvalidValue(
            "expected a size from 1kB to 10GB, such as 30MB, found \"\(text.prefix(40))\"")
    }
}

extension ValueType<Double> {
    /// Reads a share from 0 to 1, or from 0% to 100%.
    static var share: Self {
        .parsed { text throws(InvalidValue) in
            guard let share = HourlyShareText.share(text[...]) else {
                throw InvalidValue("expected a share such as 5% or 0.05, found \"\(text.prefix(40))\"")
            }
            return share
        }
    }
}

extension ValueType<HourlyShare> {
    static var hourlyShare: Self { .parsed(HourlyShareText.read) }
}

/// Reads shares by hour: one share for all hours, or a list such as `00-06 95%`, `06-24 40%`.
enum HourlyShareText {
    /// - Parameter text: the words of all entries of the list, separated by spaces.
    static func read(_ text: String) throws(InvalidValue) -> HourlyShare {
        if let share = share(text[...]) { return HourlyShare(share) }
        let words = text.split(separator: " ")
        guard words.count.isMultiple(of: 2), !words.isEmpty else { throw malformed(text) }
        var shares = [Double?](repeating: nil, count: HourlyShare.hours)
        for index in stride(from: 0, to: words.count, by: 2) {
            guard let hours = hours(words[index]), let share = share(words[index + 1]) else {
                throw malformed(text)
            }
            for hour in hours {
                guard shares[hour] == nil else {
                    throw InvalidValue("has two shares for the hour from \(hour):00")
                }
                shares[hour] = share
            }
        }
        var all: [Double] = []
        for (hour, share) in shares.enumerated() {
            guard let share else { throw InvalidValue("has no share for the hour from \(hour):00") }
            all.append(share)
        }
        return HourlyShare(hours: all)
    }

    static func share(_ text: Substring) -> Double? {
        let isPercent = text.hasSuffix("%")
        guard let number = plainDecimal(isPercent ? text.dropLast() : text), number <= (isPercent ? 100 : 1)
        else { return nil }
        return isPercent ? number / 100 : number
    }

    /// Reads `22-24`: the hours from 22:00 to 24:00.
    private static func hours(_ text: Substring) -> Range<Int>? {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, let start = Int(foreign: parts[0]), let end = Int(foreign: parts[1]),
            start >= 0,
            start < end, end <= HourlyShare.hours
        else { return nil }
        return start..<end
    }

    private static func malformed(_ text: String) -> InvalidValue {
        InvalidValue(
            "expected a share such as 40%, or a list such as [00-06 95%, 06-24 40%], found \"\(text.prefix(40))\""
        )
    }
}
