/// The kind of a push: the value of `apns-push-type`, and its rules for topic and payload.
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

    /// The word in a job and in the `apns-push-type` header.
    package var name: String {
        switch self {
        case .alert: "alert"
        case .background: "background"
        case .voip: "voip"
        case .complication: "complication"
        case .fileprovider: "fileprovider"
        case .mdm: "mdm"
        case .location: "location"
        case .liveactivity: "liveactivity"
        case .pushtotalk: "pushtotalk"
        case .widgets: "widgets"
        case .controls: "controls"
        }
    }

    /// The required end of the topic; empty: any topic.
    package var topicSuffix: String {
        switch self {
        case .alert, .background, .mdm: ""
        case .voip: ".voip"
        case .complication: ".complication"
        case .fileprovider: ".pushkit.fileprovider"
        case .location: ".location-query"
        case .liveactivity: ".push-type.liveactivity"
        case .pushtotalk: ".voip-ptt"
        case .widgets: ".push-type.widgets"
        case .controls: ".push-type.controls"
        }
    }

    /// The largest payload the gateway takes, in bytes.
    package var payloadLimit: Int { self == .voip ? 5120 : 4096 }

    /// The priority of a push whose job names none.
    package var defaultPriority: UInt8 { self == .background ? 5 : 10 }

    /// The priorities that the gateway takes for it.
    package var priorities: [UInt8] {
        switch self {
        case .background: [5]
        case .liveactivity: [5, 10]
        case .pushtotalk: [10]
        default: [1, 5, 10]
        }
    }

    /// The topic of a push whose job names none: the app's, with the suffix of this type (never doubled).
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

/// A case that jobs, lists and events call by a name.
package protocol NamedCase: CaseIterable {
    var name: String { get }
}

extension NamedCase {
    package init?(name: String) {
        guard let named = Self.allCases.first(where: { $0.name == name }) else { return nil }
        self = named
    }
}
