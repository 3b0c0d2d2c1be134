package import APNs
package import HTTP2
package import PushModel

/// APNs over HTTP/2: its requests and responses.
///
/// The header list of a connection's requests is kept; a push changes only what differs from the one before.
package struct APNsService: StreamService {
    private let block: HeaderBlock
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

    package init(authority: String, providerToken: [UInt8]?) {
        block = HeaderBlock(
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

    package func renew(_ providerToken: [UInt8]) {
        providerToken.withUnsafeBytes { block.set(Self.index(.authorization), $0) }
    }

    package mutating func request(
        _ head: PushHead, token: UnsafeRawBufferPointer, id: PushID, bodyCount: Int
    ) -> HeaderBlock {
        if head !== self.head { use(head) }
        block.write(Self.index(.path)) { Hexadecimal.write(token, to: $0) }
        block.write(Self.index(.id)) { room in
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

    /// HTTP/2 can do without a body's length; some proxies refuse a request that does not say it.
    private mutating func setLength(_ bodyCount: Int) {
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

    // MARK: Responses

    package func rejection(_ answer: Answer, generation: UInt32) -> Rejection {
        let body = AnswerBody(answer.body)
        let verdict = Verdict(
            status: Int(answer.status), reason: body?.reason, timestamp: body?.timestamp,
            isForeign: body == nil && AnswerBody.isForeign(answer.body))
        return Rejection(
            verdict: verdict, status: answer.status, retryAfter: answer.retryAfter, generation: generation)
    }

    package func farewell(code: UInt32, debugData: [UInt8]) -> (words: String, verdict: Verdict) {
        let note = debugData.withUnsafeBytes { GoAwayNote(debugData: $0) }
        return (note == .nothing ? "code \(code)" : note.words, note.verdict)
    }
}
