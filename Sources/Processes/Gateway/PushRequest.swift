import APNs
import HTTP2
import PushModel

/// The header list of a connection's requests, in which a push changes only what differs from the one before.
struct PushRequest: ~Copyable {
    let block: RequestBlock
    /// Bytes of the longest token that a batch can carry.
    private static let longestToken = 255
    private static let longestProviderToken = 4096
    /// The app's own, with what the push type adds.
    private static let longestTopic = 512
    /// Digits of a body's length.
    private static let longestLength = 10
    private var head: PushHead?
    /// Of the body before: the payloads of a job are often equally long.
    private var bodyCount: Int?

    /// - Parameters:
    ///   - authority: the gateway's host, with its port unless that is 443.
    ///   - providerToken: `nil` when a certificate speaks for us.
    init(authority: String, providerToken: [UInt8]?) {
        block = RequestBlock(
            RequestHeader.allCases.compactMap { header in
                let name = "\(header.name)"
                switch header {
                case .method: return .fixed(name, "POST")
                case .scheme: return .fixed(name, "https")
                case .authority: return .fixed(name, authority)
                case .path:
                    return .own(name, prefix: "/3/device/", capacity: 2 * Self.longestToken)
                case .authorization:
                    return .changeable(name, prefix: "bearer ", capacity: Self.longestProviderToken)
                case .topic:
                    return .changeable(name, capacity: Self.longestTopic, indexed: header.isIndexed)
                case .collapseID:
                    return .changeable(name, capacity: 255, indexed: header.isIndexed)
                case .pushType, .priority, .expiration:
                    return .changeable(name, capacity: 40, indexed: header.isIndexed)
                case .id: return .own(name, capacity: 40)
                case .contentLength: return .own(name, capacity: Self.longestLength)
                }
            })
        if let providerToken { renew(providerToken) }
    }

    /// Uses another provider token from now on.
    func renew(_ providerToken: [UInt8]) {
        providerToken.withUnsafeBytes { block.set(Self.index(.authorization), $0) }
    }

    mutating func use(_ head: PushHead) {
        guard head !== self.head else { return }
        self.head = head
        head.topic.withUnsafeBytes { set(.topic, $0.isEmpty ? nil : $0) }
        set(.pushType, head.pushType)
        set(.priority, head.priority)
        set(.expiration, head.expiration)
        set(.collapseID, head.collapseID)
    }

    /// - Parameter bodyCount: bytes of the payload. HTTP/2 can do without; some proxies refuse a request that does not say it.
    mutating func aim(token: UnsafeRawBufferPointer, id: PushID, bodyCount: Int) {
        block.write(Self.index(.path)) { Hexadecimal.write(token, to: $0) }
        block.write(Self.index(.id)) { room in
            id.write(to: room)
            return PushID.textLength
        }
        if bodyCount != self.bodyCount { measure(bodyCount) }
    }

    private mutating func measure(_ bodyCount: Int) {
        self.bodyCount = bodyCount
        set(.contentLength, String(bodyCount))
    }

    private func set(_ header: RequestHeader, _ text: String?) {
        guard let text else { return block.omit(Self.index(header)) }
        block.set(Self.index(header), text)
    }

    private func set(_ header: RequestHeader, _ bytes: UnsafeRawBufferPointer?) {
        guard let bytes else { return block.omit(Self.index(header)) }
        block.set(Self.index(header), bytes)
    }

    private static func index(_ header: RequestHeader) -> Int { Int(header.rawValue) }
}
