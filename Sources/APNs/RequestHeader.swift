/// The headers of a push, in the order in which they are sent.
///
/// - Source: Apple, "Sending notification requests to APNs", header table.
package enum RequestHeader: UInt8, CaseIterable, Hashable, Sendable {
    case method, scheme, authority, path, authorization, topic, pushType, priority, expiration, collapseID, id

    package var name: StaticString {
        switch self {
        case .method: ":method"
        case .scheme: ":scheme"
        case .authority: ":authority"
        case .path: ":path"
        case .authorization: "authorization"
        case .topic: "apns-topic"
        case .pushType: "apns-push-type"
        case .priority: "apns-priority"
        case .expiration: "apns-expiration"
        case .collapseID: "apns-collapse-id"
        case .id: "apns-id"
        }
    }

    /// Whether HPACK may put the header into its table; false for what differs from push to push, and for secrets.
    package var isIndexed: Bool {
        switch self {
        case .method, .scheme, .authority, .topic, .pushType, .priority: true
        case .path, .authorization, .expiration, .collapseID, .id: false
        }
    }
}
