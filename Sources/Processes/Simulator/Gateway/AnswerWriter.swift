import EventLoop
import HTTP2

/// Puts replies on streams: one HEADERS frame for 200, HEADERS and a JSON body for everything else.
@Loop final class AnswerWriter {
    private let isSandbox: Bool
    private let ok: HeaderBlock
    private var refusals: [UInt16: HeaderBlock] = [:]
    private var body = TextBuffer(capacity: 512)
    private var random: RandomSource

    init(environment: SimulatorOptions.Environment, seed: UInt64) {
        isSandbox = environment == .sandbox
        random = RandomSource(seed: seed)
        var fields: [HeaderField] = [
            .fixed(":status", "200"), .changeable("apns-id", capacity: EchoedID.longest),
        ]
        if isSandbox { fields.append(.changeable("apns-unique-id", capacity: EchoedID.longest)) }
        ok = HeaderBlock(fields)
    }

    /// - Returns: false if the stream has gone in the meantime.
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
            .fixed(":status", "\(status)"), .changeable("apns-id", capacity: EchoedID.longest),
            .fixed("content-type", "application/json"), .changeable("retry-after", capacity: 20),
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
