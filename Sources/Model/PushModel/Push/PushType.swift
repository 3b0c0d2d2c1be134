/// The kind of a push: a value of the `apns-push-type` header, with the type's rules for topic, priority and payload.
/// - Source: Apple, "Sending notification requests to APNs".
package enum PushType: UInt8, NamedCase, Hashable, Sendable {
    case alert = 0
    case background = 1
    case voip = 2
    case complication = 3
    case fileprovider = 4
    case mdm = 5
    case location = 6
    case liveactivity = 7
    case pushtotalk = 8
    case widgets = 9
    case controls = 10

    /// The name, the required topic suffix and the allowed priorities of each push type, in the order of the cases.
    private static let rules: [(name: String, topicSuffix: String, priorities: [UInt8])] = [
        ("alert", "", [1, 5, 10]), ("background", "", [5]), ("voip", ".voip", [1, 5, 10]),
        ("complication", ".complication", [1, 5, 10]),
        ("fileprovider", ".pushkit.fileprovider", [1, 5, 10]), ("mdm", "", [1, 5, 10]),
        ("location", ".location-query", [1, 5, 10]),
        ("liveactivity", ".push-type.liveactivity", [5, 10]), ("pushtotalk", ".voip-ptt", [10]),
        ("widgets", ".push-type.widgets", [1, 5, 10]), ("controls", ".push-type.controls", [1, 5, 10]),
    ]

    /// The word in a job and in the `apns-push-type` header.
    package var name: String { Self.rules[Int(rawValue)].name }

    /// The suffix that the topic of a push must have; empty if the push type allows topics without a suffix.
    package var topicSuffix: String { Self.rules[Int(rawValue)].topicSuffix }

    /// The priorities that the gateway accepts for this type.
    package var priorities: [UInt8] { Self.rules[Int(rawValue)].priorities }

    /// The largest payload that the gateway accepts, in bytes.
    package var payloadLimit: Int { self == .voip ? 5120 : 4096 }

    /// The priority of a push if the job does not set a priority.
    package var defaultPriority: UInt8 { self == .background ? 5 : 10 }

    /// The default topic of a push: the app's topic with the suffix of this type.
    ///
    /// If the app's topic already ends with the suffix, the suffix is not added a second time.
    package func topic(ofApp topic: String) -> String {
        topic.hasSuffix(topicSuffix) ? topic : topic + topicSuffix
    }

    /// Whether a topic is `base`, or `base` with the suffix of a push type.
    package static func derives(_ topic: String, from base: String) -> Bool {
        guard topic.hasPrefix(base) else { return false }
        let suffix = topic.utf8.dropFirst(base.utf8.count)
        return allCases.contains { $0.topicSuffix.utf8.elementsEqual(suffix) }
    }
}

/// An enum whose cases have names in jobs, lists and events.
package protocol NamedCase: CaseIterable {
    var name: String { get }
}

extension NamedCase {
    package init?(name: String) {
        guard let named = Self.allCases.first(where: { $0.name == name }) else { return nil }
        self = named
    }
}
