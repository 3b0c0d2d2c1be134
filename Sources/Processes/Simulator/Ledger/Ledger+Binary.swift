import APNs
import BinaryProtocol

/// A frame of the binary interface in the ledger.
extension Ledger {
    struct Frame {
        /// Microseconds since 1970.
        var moment: Int64
        var connection: Int64
        var number: Int
        /// The frame's first byte.
        var command: UInt8
        /// Nil: it could not be read, or there is none.
        var identifier: UInt32?
        var push: BinaryNotification?
        var topic: UnsafeRawBufferPointer
        var outcome: BinaryCourse.Outcome
        var warning: String?

        fileprivate var size: Int {
            1024 + 2 * (push?.token.count ?? 0) + 6 * (topic.count + (warning?.utf8.count ?? 0))
        }
    }

    mutating func note(_ frame: Frame) {
        begin(frame.size)
        put("time", frame.moment / 1000, isFirst: true)
        put("time_us", frame.moment)
        put("connection", frame.connection)
        put("frame", Int64(frame.number))
        put("command", Int64(frame.command))
        if let identifier = frame.identifier { put("identifier", Int64(identifier)) }
        if let token = frame.push?.token {
            text.put(",\"token\":\"")
            text.put(hexadecimal: token)
            text.put("\"")
        }
        if !frame.topic.isEmpty {
            text.put(",\"topic\":")
            text.put(quoted: frame.topic)
        }
        if let priority = frame.push?.priority { put("priority", Int64(priority)) }
        if let expiration = frame.push?.expiration { put("expiration", Int64(expiration)) }
        put(frame.outcome)
        if let warning = frame.warning {
            text.put(",\"warning\":")
            text.put(quoted: warning)
        }
        end(body: frame.push?.payload ?? UnsafeRawBufferPointer(start: nil, count: 0))
    }

    private mutating func put(_ outcome: BinaryCourse.Outcome) {
        switch outcome {
        case .accepted: text.put(",\"outcome\":\"accepted\",\"status\":200")
        case .refused(let status, let isLost):
            text.put(",\"outcome\":\"refused\"")
            put("status", Int64(status.rawValue))
            text.put(",\"reason\":")
            text.put(quoted: status.reason)
            if isLost { text.put(",\"lost\":true") }
        case .discarded(let place):
            text.put(",\"outcome\":\"discarded\",\"status\":0")
            put("after", Int64(place.number))
            if place.isIdentified { put("after_identifier", Int64(place.identifier)) }
        }
    }

    private mutating func put(_ name: StaticString, _ number: Int64, isFirst: Bool = false) {
        if isFirst { text.put("{\"") } else { text.put(",\"") }
        text.put(name)
        text.put("\":")
        text.put(number)
    }
}
