package import Segments

/// The name of an attribute with its value, such as `tag:sport`, `zone:Asia/Tokyo`, `alive` or `seen:20783`.
///
/// Names are equal if their texts are canonically equivalent in Unicode.
package struct AttributeName: Hashable, Sendable, CustomStringConvertible {
    /// The name as a text, which is a field of the hash `names`.
    package let text: String

    /// Creates a name from a field of the hash `names`.
    package init(text: String) { self.text = text }

    /// The name that a term of a segment asks for.
    package init(_ attribute: SegmentTerm.Attribute, _ value: String) {
        text = attribute.rawValue + ":" + value
    }

    /// The name of the attribute of all devices that can get pushes.
    package static let alive = AttributeName(text: "alive")

    package static func tag(_ tag: String) -> Self { Self(.tag, tag) }
    package static func platform(_ platform: String) -> Self { Self(.platform, platform) }
    package static func zone(_ zone: String) -> Self { Self(.zone, zone) }
    package static func lang(_ lang: String) -> Self { Self(.lang, lang) }
    package static func app(_ version: String) -> Self { Self(.app, version) }
    package static func os(_ version: String) -> Self { Self(.os, version) }
    package static func model(_ model: String) -> Self { Self(text: "model:\(model)") }
    package static func reachability(_ value: String) -> Self { Self(.reachability, value) }
    package static func network(_ network: String) -> Self { Self(.network, network) }
    package static func service(_ service: DeviceAddress.Service) -> Self { Self(.service, service.name) }

    package static func environment(_ environment: DeviceAddress.Environment) -> Self {
        environment == .production ? production : sandbox
    }

    private static let production = Self(.environment, DeviceAddress.Environment.production.name)
    private static let sandbox = Self(.environment, DeviceAddress.Environment.sandbox.name)

    /// The name of the attribute of all devices that were last seen on this day.
    ///
    /// - Parameter day: a number of days since 1970 in UTC.
    package static func seen(day: Int) -> Self { Self(text: "seen:" + String(day)) }

    /// The name of the attribute of all devices that were last seen in this week.
    package static func seen(week: SeenWeek) -> Self { Self(text: "seen:\(week.value)") }

    /// The day of a name that ``seen(day:)`` created; nil for other names.
    package var seenDay: Int? {
        guard isSeen else { return nil }
        return Int(foreign: text.utf8.dropFirst(Self.seenPrefix.count))
    }

    /// Whether the name belongs to a day or a week of `seen`.
    package var isSeen: Bool { text.utf8.starts(with: Self.seenPrefix) }

    private static let seenPrefix = Array("seen:".utf8)

    package var description: String { text }
}
