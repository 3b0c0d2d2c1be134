import PushModel

/// The headers of a push, in the order in which they are sent; the raw value is the place in that order.
///
/// A value is ``prefix`` and then up to ``capacity`` bytes that change: with the connection (authority,
/// authorization), with the options of a segment, or with each push (path: the token in ``Hexadecimal``; id; length of the payload).
/// - Source: Apple, "Sending notification requests to APNs", header table.
package enum RequestHeader: Int, CaseIterable, Hashable, Sendable {
    case method, scheme, authority, path, authorization, topic, pushType, priority, expiration, collapseID,
        id, contentLength

    package var name: String {
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
        case .contentLength: "content-length"
        }
    }

    /// What each value starts with, or is, if ``capacity`` is 0.
    package var prefix: String {
        switch self {
        case .method: "POST"
        case .scheme: "https"
        case .path: "/3/device/"
        case .authorization: "bearer "
        case .authority, .topic, .pushType, .priority, .expiration, .collapseID, .id, .contentLength: ""
        }
    }

    /// The most bytes that may follow ``prefix``.
    package var capacity: Int {
        switch self {
        case .method, .scheme: 0
        case .authority: 300
        case .path: 2 * JobLimits.tokenBytes.upperBound
        case .authorization: 4096
        case .topic: 255
        case .pushType: 32
        case .priority, .expiration: Decimal.longest
        case .collapseID: 64
        case .id: 36
        case .contentLength: 10
        }
    }

    /// Whether HPACK may put the header into its table; false for what differs from push to push, and for
    /// secrets.
    package var isIndexed: Bool {
        switch self {
        case .method, .scheme, .authority, .topic, .pushType, .priority: true
        case .path, .authorization, .expiration, .collapseID, .id, .contentLength: false
        }
    }
}
