import APNs
import EventLoop
import HTTP2
import PushModel

/// Writes responses to streams: one HEADERS frame for status 200; HEADERS and a JSON body for other statuses.
@Loop final class ResponseWriter {
    private let isSandbox: Bool
    private let ok: HeaderBlock
    private var refusals: [UInt16: HeaderBlock] = [:]
    private var body = TextBuffer(capacity: 512)
    private var random: SeededRandom

    init(environment: SimulatorOptions.Environment, seed: UInt64) {
        isSandbox = environment == .sandbox
        random = SeededRandom(seed: seed)
        var fields: [HeaderField] = [
            .fixed(":status", "200"), .own("apns-id", capacity: EchoedID.longest),
        ]
        if isSandbox { fields.append(.own("apns-unique-id", capacity: EchoedID.longest)) }
        ok = HeaderBlock(fields)
    }

    /// - Returns: false if the stream is already closed.
    @discardableResult
    func write(_ reply: Reply, id: EchoedID, to stream: Int32, of session: ServerSession) -> Bool {
        guard reply.status != 200 else {
            id.withBytes { ok.set(1, $0) }
            if isSandbox { EchoedID(random: &random).withBytes { ok.set(2, $0) } }
            return session.respond(to: stream, ok)
        }
        let headers = headers(for: reply.status)
        id.withBytes { headers.set(1, $0) }
        if let seconds = reply.retryAfter { headers.set(3, "\(seconds)") } else { headers.omit(3) }
        writeBody(of: reply)
        return session.respond(to: stream, headers, body: body.bytes)
    }

    private func headers(for status: UInt16) -> HeaderBlock {
        if let headers = refusals[status] { return headers }
        let headers = HeaderBlock([
            .fixed(":status", "\(status)"), .own("apns-id", capacity: EchoedID.longest),
            .fixed("content-type", "application/json"), .own("retry-after", capacity: 20),
        ])
        refusals[status] = headers
        return headers
    }

    private func writeBody(of reply: Reply) {
        let reason = reply.reason ?? ""
        body.clear()
        body.reserve(64 + 6 * reason.utf8.count)
        body.put("{\"reason\":")
        body.put(quoted: reason)
        if let timestamp = reply.timestamp {
            body.put(",\"timestamp\":")
            body.put(timestamp)
        }
        body.put("}")
    }
}

/// The gateway's response to one request.
package struct Reply: Hashable, Sendable {
    package var status: UInt16
    /// The reason; nil only with status 200.
    package var reason: String?
    /// When the token became unregistered, in milliseconds since 1970; nil if the reason does not need this time.
    package var timestamp: Int64?
    /// The value of the `retry-after` header in seconds; nil if the response has no such header.
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

    /// The reason for a status when a command names no reason.
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

/// The `apns-id` of a response: the id in the request, or a new id if the request has no usable id. The id is a plain
/// value, so a delayed response can store it.
struct EchoedID {
    static let longest = PushID.textLength

    private var storage: (UInt64, UInt64, UInt64, UInt64, UInt32) = (0, 0, 0, 0, 0)
    private var count: UInt8 = 0

    private init() {}

    /// Uses the request's id if it is not empty and not longer than a UUID, else creates an id.
    init(_ id: UnsafeRawBufferPointer?, random: inout SeededRandom) {
        self.init()
        guard let id, !id.isEmpty, id.count <= Self.longest else {
            self = EchoedID(random: &random)
            return
        }
        count = UInt8(id.count)
        withUnsafeMutableBytes(of: &storage) { $0.copyMemory(from: id) }
    }

    /// Creates a lower-case UUID of version 4.
    init(random: inout SeededRandom) {
        self.init()
        count = UInt8(Self.longest)
        let id = PushID(high: random.next(), low: random.next())
        withUnsafeMutableBytes(of: &storage) { id.write(to: $0) }
    }

    func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        withUnsafeBytes(of: storage) { body(UnsafeRawBufferPointer(rebasing: $0[..<Int(count)])) }
    }
}
