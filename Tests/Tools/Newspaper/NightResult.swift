import FarmHarness
import Foundation

/// What the simulated devices did in one night.
struct NightResult {
    /// One minute of the night.
    struct Minute {
        /// Minutes since midnight.
        let at: Int
        let apiRequests: Int
        let mostAPIRequestsASecond: Int
        let done: Int
    }

    let night: NewspaperPlan.Night
    /// The number of devices that got at least one push.
    let reached: Int
    /// The number of pushes that the gateway accepted.
    let pushes: Int
    /// The number of devices with the edition.
    let done: Int
    let minutes: [Minute]

    /// Reads the reports of the simulator. Minutes after the end of the night are left out.
    init(_ night: NewspaperPlan.Night, gateway: Gateway) throws {
        self.night = night
        let summary: Summary = try Self.read(gateway.control("devices"))
        (reached, pushes) = (summary.devices, summary.backgroundPushes)
        let report: Minutes = try Self.read(gateway.control("devices minutes"))
        minutes = try report.minutes.map { minute in
            Minute(
                at: try Self.minutes(minute.minute), apiRequests: minute.apiRequests,
                mostAPIRequestsASecond: minute.mostApiRequestsASecond, done: minute.done)
        }.filter { $0.at < NewspaperPlan.end.minutes }
        done = minutes.map(\.done).reduce(0, +)
    }

    /// The greatest number of API requests in one second.
    var peak: Int { minutes.map(\.mostAPIRequestsASecond).max() ?? 0 }
    /// The number of API requests in the busiest minute, a second.
    var busiestMinute: Double { Double(minutes.map(\.apiRequests).max() ?? 0) / 60 }

    private struct Summary: Decodable { var devices, backgroundPushes: Int }

    private struct Minutes: Decodable {
        struct Minute: Decodable {
            var minute: String
            var apiRequests, mostApiRequestsASecond, done: Int
        }
        var minutes: [Minute]
    }

    private static func read<Value: Decodable>(_ text: String) throws -> Value {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        return try decoder.decode(Value.self, from: Data(text.utf8))
    }

    /// Minutes since midnight of a text such as `0 05:59:30`.
    private static func minutes(_ text: String) throws -> Int {
        let parts = text.split { " :".contains($0) }.compactMap { Int($0) }
        guard parts.count == 4 else { throw Overdue(description: "\(text) is not a time") }
        return parts[0] * 1440 + parts[1] * 60 + parts[2]
    }
}
