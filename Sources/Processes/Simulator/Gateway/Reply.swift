import APNs

/// What the gateway answers to one request.
package struct Reply: Hashable, Sendable {
    package var status: UInt16
    /// nil with status 200 only.
    package var reason: String?
    /// Of a dead token, milliseconds since 1970.
    package var timestamp: Int64?
    /// Seconds.
    package var retryAfter: Int64?

    static let accepted = Reply(status: 200)

    init(status: UInt16, reason: String? = nil, timestamp: Int64? = nil, retryAfter: Int64? = nil) {
        self.status = status
        self.reason = reason
        self.timestamp = timestamp
        self.retryAfter = retryAfter
    }

    init(_ reason: Reason, timestamp: Int64? = nil) {
        self.init(status: UInt16(reason.status), reason: reason.rawValue, timestamp: timestamp)
    }

    /// The reason that goes with a status when a command names none.
    static func usualReason(for status: UInt16) -> String? {
        switch status {
        case 400: Reason.badDeviceToken.rawValue
        case 403: Reason.expiredProviderToken.rawValue
        case 404: Reason.badPath.rawValue
        case 405: Reason.methodNotAllowed.rawValue
        case 410: Reason.unregistered.rawValue
        case 413: Reason.payloadTooLarge.rawValue
        case 429: Reason.tooManyRequests.rawValue
        case 500: Reason.internalServerError.rawValue
        case 503: Reason.serviceUnavailable.rawValue
        default: nil
        }
    }
}
