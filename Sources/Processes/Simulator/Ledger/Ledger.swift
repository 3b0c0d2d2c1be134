import APNs
import BinaryProtocol
import EventLoop
import HTTP2
import OpenSSL
import POSIX

/// The file with one JSON line for each request. The line is written before the response is sent.
///
/// Lines are buffered until ``flush()``. A connection calls ``flush()`` before the connection writes to its
/// socket, so that the kernel has the line of a response before a client can read the response.
@Loop final class Ledger {
    /// The values of one request, as they arrived. A value that the request does not have is nil.
    struct Entry {
        /// Microseconds since 1970.
        var moment: Int64
        var connection: Int64
        var stream: Int32
        /// The request; nil if the session refused the request without reading it.
        var request: ServerRequest?
        /// The id in the response.
        var id: UnsafeRawBufferPointer?
        var token: UnsafeRawBufferPointer?
        /// The status of the response; 0 means that there was no response, and `reason` says why.
        var status: UInt16
        var reason: String?
        var warning: String?
        /// True if a fault dropped the response of a processed request, whose status is `status`.
        var isLost = false

        fileprivate var size: Int {
            var count = (id?.count ?? 0) + (token?.count ?? 0)
            count += (reason?.utf8.count ?? 0) + (warning?.utf8.count ?? 0)
            for (_, field) in Ledger.fields { count += request?.value(field)?.count ?? 0 }
            return 512 + 6 * count
        }
    }

    /// The request headers that are written to the ledger.
    private nonisolated static let fields: [(label: StaticString, field: RequestField)] = [
        (",\"topic\":", .topic), (",\"push_type\":", .pushType), (",\"priority\":", .priority),
        (",\"expiration\":", .expiration), (",\"collapse_id\":", .collapseID),
    ]

    private let descriptor: Int32
    private var text = TextBuffer(capacity: 256 << 10)
    private var sha256 = SHA256()
    private var hashed: [UInt8] = []
    private var digest = UnsafeMutableRawBufferPointer.allocate(byteCount: SHA256.length, alignment: 16)
    private let path: String

    init(path: String) throws(SimulatorError) {
        self.path = path
        descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw SimulatorFile.failure("cannot open the ledger \(path)") }
        digest.initializeMemory(as: UInt8.self, repeating: 0)
        hashed.withUnsafeBytes { sha256.hash($0, into: digest) }
    }

    isolated deinit {
        digest.deallocate()
        close(descriptor)
    }

    func note(_ entry: Entry) {
        begin(entry.size, at: entry.moment, entry.connection)
        text.put(",\"stream\":", Int64(entry.stream))
        text.put(",\"apns_id\":", quoted: entry.id)
        text.put(",\"token\":", quoted: entry.token)
        for (label, field) in Self.fields { text.put(label, quoted: entry.request?.value(field)) }
        text.put(",\"status\":", Int64(entry.status))
        text.put(",\"reason\":", quoted: entry.reason)
        text.put(",\"warning\":", quoted: entry.warning)
        if entry.isLost { text.put(",\"lost\":true") }
        end(body: entry.request?.body)
    }

    /// Reserves room for a line and writes its beginning.
    private func begin(_ size: Int, at moment: Int64, _ connection: Int64) {
        text.reserve(size)
        text.put("{\"time\":", moment / 1000)
        text.put(",\"time_us\":", moment)
        text.put(",\"connection\":", connection)
    }

    private func end(body: UnsafeRawBufferPointer?) {
        text.put(",\"body_sha256\":\"")
        hash(body ?? UnsafeRawBufferPointer(start: nil, count: 0))
        text.put(hexadecimal: UnsafeRawBufferPointer(digest))
        text.put("\"}\n")
        if text.count > 1 << 20 { flush() }
    }

    /// Writes the buffered lines. Ends the process if the file cannot be written: tests rely on a complete ledger.
    func flush() {
        guard !text.isEmpty else { return }
        guard SimulatorFile.writeAll(text.bytes, to: descriptor) else {
            fatalError(SimulatorFile.failure("cannot write the ledger \(path)").description)
        }
        text.clear()
    }

    /// Hashes a payload, unless the payload equals the last payload, whose hash is kept. A job's payload usually arrives many
    /// times in a row.
    private func hash(_ body: UnsafeRawBufferPointer) {
        let isSame =
            body.count == hashed.count
            && (body.isEmpty
                || hashed.withUnsafeBytes { memcmp($0.baseAddress!, body.baseAddress!, body.count) } == 0)
        guard !isSame else { return }
        hashed.removeAll(keepingCapacity: true)
        hashed.append(contentsOf: body)
        sha256.hash(body, into: digest)
    }
}

/// Writes frames of the binary interface to the ledger.
extension Ledger {
    struct Frame {
        /// Microseconds since 1970.
        var moment: Int64
        var connection: Int64
        var number: Int
        /// The first byte of the frame.
        var command: UInt8
        /// The identifier of the frame; nil if the frame has no identifier or could not be read.
        var identifier: UInt32?
        var push: BinaryNotification?
        var topic: UnsafeRawBufferPointer
        var outcome: BinaryConnectionState.Outcome
        var warning: String?

        fileprivate var size: Int {
            1024 + 2 * (push?.token.count ?? 0) + 6 * (topic.count + (warning?.utf8.count ?? 0))
        }
    }

    func note(_ frame: Frame) {
        begin(frame.size, at: frame.moment, frame.connection)
        text.put(",\"frame\":", Int64(frame.number))
        text.put(",\"command\":", Int64(frame.command))
        if let identifier = frame.identifier { text.put(",\"identifier\":", Int64(identifier)) }
        if let token = frame.push?.token {
            text.put(",\"token\":\"")
            text.put(hexadecimal: token)
            text.put("\"")
        }
        text.put(",\"topic\":", quoted: frame.topic.isEmpty ? nil : frame.topic)
        if let priority = frame.push?.priority { text.put(",\"priority\":", Int64(priority)) }
        if let expiration = frame.push?.expiration { text.put(",\"expiration\":", Int64(expiration)) }
        put(frame.outcome)
        text.put(",\"warning\":", quoted: frame.warning)
        end(body: frame.push?.payload)
    }

    private func put(_ outcome: BinaryConnectionState.Outcome) {
        switch outcome {
        case .accepted: text.put(",\"outcome\":\"accepted\",\"status\":200")
        case .refused(let status, let isLost):
            text.put(",\"outcome\":\"refused\",\"status\":", Int64(status.rawValue))
            text.put(",\"reason\":", quoted: status.reason)
            if isLost { text.put(",\"lost\":true") }
        case .discarded(let position):
            text.put(",\"outcome\":\"discarded\",\"status\":0")
            text.put(",\"after\":", Int64(position.number))
            if position.isIdentified { text.put(",\"after_identifier\":", Int64(position.identifier)) }
        }
    }
}
