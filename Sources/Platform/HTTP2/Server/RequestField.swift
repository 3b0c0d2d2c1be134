/// The fields of a request that a server session keeps. All others are passed over.
package enum RequestField: Int, CaseIterable, Sendable {
    case method, path, authority, host, authorization, contentLength
    case id, topic, pushType, priority, expiration, collapseID, channelID, requestID

    package var name: StaticString {
        switch self {
        case .method: ":method"
        case .path: ":path"
        case .authority: ":authority"
        case .host: "host"
        case .authorization: "authorization"
        case .contentLength: "content-length"
        case .id: "apns-id"
        case .topic: "apns-topic"
        case .pushType: "apns-push-type"
        case .priority: "apns-priority"
        case .expiration: "apns-expiration"
        case .collapseID: "apns-collapse-id"
        case .channelID: "apns-channel-id"
        case .requestID: "apns-request-id"
        }
    }

    init?(_ name: UnsafeRawBufferPointer) {
        let candidate: RequestField
        switch name.count {
        case 4: candidate = .host
        case 5: candidate = .path
        case 7: candidate = name[0] == 0x3a ? .method : .id
        case 10: candidate = name[0] == 0x3a ? .authority : .topic
        case 13: candidate = name[1] == 0x75 ? .authorization : .priority
        case 14: candidate = name[0] == 0x61 ? .pushType : .contentLength
        case 15:
            switch name[5] {
            case 0x65: candidate = .expiration
            case 0x63: candidate = .channelID
            default: candidate = .requestID
            }
        case 16: candidate = .collapseID
        default: return nil
        }
        guard name.equals(candidate.name) else { return nil }
        self = candidate
    }
}
