import Foundation

/// The nights that are played, and the audience of their edition.
struct NewspaperPlan {
    /// One night: the same devices, with another campaign.
    struct Night {
        let name: String
        /// The number of rounds, and so the greatest number of pushes to a device.
        let rounds: Int
        /// The number of cohorts; nil: each round is sent as fast as possible.
        let cohorts: Int?
    }

    let devices: Int
    /// The number of seconds of the night that pass in one second.
    let factor: Int
    /// A file with a model of devices, in the form of deploy/devices.yaml.
    let model: String

    /// The name of the edition in payloads.
    static let edition = "ed-2026-11-24"
    /// The time of day at which the simulated devices start.
    static let start = Clock(hour: 2, minute: 55)
    /// The time of day at which the devices with the edition are counted.
    static let end = Clock(hour: 6, minute: 0)
    /// The time between two rounds in seconds of the night.
    private static let every = 25 * 60

    static let nights =
        (1...4).map { Night(name: "\($0)", rounds: $0, cohorts: 8) }
        + [Night(name: "4, without cohorts", rounds: 4, cohorts: nil)]

    /// A time of day.
    struct Clock {
        let hour, minute: Int
        var minutes: Int { hour * 60 + minute }
    }

    /// The time from the start of the simulated devices to the count.
    var realNight: Duration {
        .milliseconds((Self.end.minutes - Self.start.minutes) * 60_000 / factor)
    }

    /// The text of the model with the plan's factor, start and number of devices.
    func modelText() throws -> String {
        let settings = [
            "time_factor": "\(factor)",
            "starts_at": String(format: "%02d:%02d", Self.start.hour, Self.start.minute),
            "most_devices": "\(devices)",
        ]
        let lines = try String(contentsOfFile: model, encoding: .utf8).split(
            separator: "\n", omittingEmptySubsequences: false)
        return lines.map { line in
            guard let key = line.split(separator: ":").first.map(String.init), let value = settings[key]
            else { return String(line) }
            return "\(key): \(value)"
        }.joined(separator: "\n")
    }

    /// The definition of a night's campaign. The intake divides the time between rounds by `PUSHFARM_TIME_FACTOR`. `ttl` is real
    /// time, so it is divided here.
    func campaign(_ night: Night, id: String) -> String {
        var fields: [String: Any] = [
            "id": id, "segment": "all", "push_type": "background",
            "payload": ["aps": ["content-available": 1], "edition": Self.edition],
            "ttl": max(1, Int(realNight / .seconds(1))),
            "repeat": ["every": "\(Self.every)s", "until": "done", "max": night.rounds],
        ]
        if let cohorts = night.cohorts { fields["cohorts"] = cohorts } else { fields["rate"] = 1_000_000 }
        let data = try? JSONSerialization.data(withJSONObject: fields, options: [.sortedKeys])
        return String(decoding: data ?? Data(), as: UTF8.self)
    }
}
