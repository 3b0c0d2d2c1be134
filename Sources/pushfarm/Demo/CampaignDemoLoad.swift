import PushModel

/// The devices and the campaign of `demo --campaign`. Nine of ten devices are in the audience.
struct CampaignDemoLoad: Sendable {
    let devices: Int
    /// The number of devices whose token is bad.
    let bad: Int

    static let id = "demo-campaign"
    static let segment = (name: "readers", expression: "tag:edition & !tag:muted")

    /// Zones whose clocks differ from UTC by whole hours, so that the windows of all devices change in the same minute of the hour.
    static let zones = [
        "Europe/Berlin", "Europe/London", "America/New_York", "America/Los_Angeles", "America/Sao_Paulo",
        "Asia/Tokyo", "Asia/Singapore", "Asia/Dubai", "Africa/Nairobi", "Pacific/Auckland",
    ]

    private var tokens: DemoLoad { DemoLoad(pushes: devices, bad: bad) }

    /// Whether a device is in the audience. Devices are numbered from 0.
    func isInAudience(_ number: Int) -> Bool { number % 10 != 4 }

    /// The devices of the audience, and those of them whose token is bad.
    var audience: (all: Int, bad: Int) {
        let tokens = tokens
        return (0..<devices).reduce(into: (0, 0)) { counts, number in
            guard isInAudience(number) else { return }
            counts.0 += 1
            if tokens.isBad(number) { counts.1 += 1 }
        }
    }

    /// The registration of a device.
    func registration(of number: Int) -> [UInt8] {
        let tags = isInAudience(number) ? "\"edition\"" : "\"edition\",\"muted\""
        // The division keeps the zones independent of the tags.
        let zone = Self.zones[number / 10 % Self.zones.count]
        var text = Array("{\"id\":\"d-\(number)\",\"user\":\"u-\(number)\",\"token\":\"".utf8)
        tokens.append(token: number, to: &text)
        text += Array("\",\"tags\":[\(tags)],\"zone\":\"\(zone)\"}".utf8)
        return text
    }

    /// The seconds over which the campaign spreads its pushes.
    var spread: Int { max(3, devices / 2_000) }

    /// The definition of the campaign. The window has nearly the whole day, so that it is open in all zones.
    ///
    /// - Parameter minute: the present minute of the hour. In all zones, the window begins and ends half an hour away from it.
    func definition(atMinute minute: Int) -> [UInt8] {
        func clock(_ hour: Int, _ minute: Int) -> String {
            "\(CivilDate.padded(Int64(hour), to: 2)):\(CivilDate.padded(Int64(minute), to: 2))"
        }
        let start = (minute + 30) % 60
        let (from, to) = (clock(0, start), start > 0 ? clock(0, start - 1) : clock(23, 59))
        let text =
            "{\"id\":\"\(Self.id)\",\"segment\":\"\(Self.segment.name)\",\"spread\":\"\(spread)s\","
            + "\"window\":{\"from\":\"\(from)\",\"to\":\"\(to)\",\"zone\":\"device\"},"
            + "\"payload\":{\"aps\":{\"alert\":\"Good morning, {{user|reader}}!\"}}}"
        return Array(text.utf8)
    }
}
