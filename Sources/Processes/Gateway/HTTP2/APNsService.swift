package import APNs
package import HTTP2
package import PushModel

/// Builds requests to APNs over HTTP/2, and interprets its responses.
///
/// The header list of the last request is kept, and a push changes only the fields that differ.
package struct APNsService: StreamService {
    /// The headers of a push, in the order in which they are sent.
    /// - Source: Apple, "Sending notification requests to APNs", header table.
    private enum Header: Int {
        case method, scheme, authority, path, authorization, topic, pushType, priority, expiration,
            collapseID, id, contentLength
    }

    private let block: HeaderBlock
    /// The longest token that a batch can contain, in bytes.
    private static let longestToken = 255
    private static let longestProviderToken = 4096
    /// The maximum length of a topic with the suffix of its push type, in bytes.
    private static let longestTopic = 512
    /// The maximum number of decimal digits in a body's length.
    private static let longestLength = 10
    private var head: PushHead?
    /// The body length of the last request. The payloads of a job often have the same length, so the header field is
    /// often reused.
    private var bodyCount: Int?

    package init(authority: String, providerToken: [UInt8]?) {
        block = HeaderBlock(Self.fields(authority: authority))
        if let providerToken { renew(providerToken) }
    }

    /// HPACK may index fields that repeat between pushes and are not secret.
    static func fields(authority: String) -> [HeaderField] {
        [
            .fixed(":method", "POST"),
            .fixed(":scheme", "https"),
            .fixed(":authority", authority),
            .own(":path", prefix: "/3/device/", capacity: 2 * longestToken),
            .changeable("authorization", prefix: "bearer ", capacity: longestProviderToken),
            .changeable("apns-topic", capacity: longestTopic, indexed: true),
            .changeable("apns-push-type", capacity: 40, indexed: true),
            .changeable("apns-priority", capacity: 40, indexed: true),
            .changeable("apns-expiration", capacity: 40, indexed: false),
            .changeable("apns-collapse-id", capacity: 255, indexed: false),
            .own("apns-id", capacity: 40),
            .own("content-length", capacity: longestLength),
        ]
    }

    package func renew(_ providerToken: [UInt8]) {
        providerToken.withUnsafeBytes { block.set(Header.authorization.rawValue, $0) }
    }

    package mutating func request(
        _ head: PushHead, token: UnsafeRawBufferPointer, id: PushID, bodyCount: Int
    ) -> HeaderBlock {
        if head !== self.head { use(head) }
        block.write(Header.path.rawValue) { Hexadecimal.write(token, to: $0) }
        block.write(Header.id.rawValue) { room in
            id.write(to: room)
            return PushID.textLength
        }
        if bodyCount != self.bodyCount { setLength(bodyCount) }
        return block
    }

    private mutating func use(_ head: PushHead) {
        self.head = head
        head.topic.withUnsafeBytes { set(.topic, $0.isEmpty ? nil : $0) }
        set(.pushType, head.pushType)
        set(.priority, head.priority)
        set(.expiration, head.expiration)
        set(.collapseID, head.collapseID)
    }

    /// HTTP/2 does not require a body length, but some proxies refuse a request without it.
    private mutating func setLength(_ bodyCount: Int) {
        self.bodyCount = bodyCount
        set(.contentLength, String(bodyCount))
    }

    private func set(_ header: Header, _ text: String?) {
        guard let text else { return block.omit(header.rawValue) }
        block.set(header.rawValue, text)
    }

    private func set(_ header: Header, _ bytes: UnsafeRawBufferPointer?) {
        guard let bytes else { return block.omit(header.rawValue) }
        block.set(header.rawValue, bytes)
    }

    package func rejection(_ response: Response, generation: UInt32) -> Rejection {
        let body = ErrorBody(response.body)
        let verdict = Verdict(
            status: Int(response.status), reason: body?.reason, timestamp: body?.timestamp,
            isForeign: body == nil && ErrorBody.isForeign(response.body))
        return Rejection(
            verdict: verdict, status: response.status, retryAfter: response.retryAfter, generation: generation
        )
    }

    package func goAwayMeaning(code: UInt32, debugData: [UInt8]) -> (words: String, verdict: Verdict) {
        let note = debugData.withUnsafeBytes { GoAwayReason(debugData: $0) }
        return (note == .nothing ? "code \(code)" : note.words, note.verdict)
    }
}
