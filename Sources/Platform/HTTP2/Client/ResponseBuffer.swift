import POSIX

/// Reusable memory for the kept parts of one response. Most responses have status 200 and need no buffer.
///
/// Layout: counts, then `apns-id`, `apns-unique-id`, body.
struct ResponseBuffer: BitwiseCopyable {
    private struct Counts: BitwiseCopyable {
        var messageID = 0
        var uniqueID = 0
        var body = 0
    }

    static let bodyLimit = 1_024
    private static let idLimit = 64
    private static let head = MemoryLayout<Counts>.stride
    private static let size = head + 2 * idLimit + bodyLimit

    private let base: UnsafeMutableRawPointer
    private var counts: UnsafeMutablePointer<Counts> { base.assumingMemoryBound(to: Counts.self) }

    static func allocate() -> ResponseBuffer {
        let buffer = ResponseBuffer(base: .allocate(byteCount: size, alignment: 16))
        buffer.base.bindMemory(to: Counts.self, capacity: 1).initialize(to: Counts())
        return buffer
    }

    func deallocate() { base.deallocate() }

    func clear() { counts.pointee = Counts() }

    var messageID: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: base + Self.head, count: counts.pointee.messageID)
    }

    var uniqueID: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: base + Self.head + Self.idLimit, count: counts.pointee.uniqueID)
    }

    var body: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: base + Self.head + 2 * Self.idLimit, count: counts.pointee.body)
    }

    func setMessageID(_ bytes: UnsafeRawBufferPointer) {
        counts.pointee.messageID = put(bytes, at: Self.head, limit: Self.idLimit)
    }

    func setUniqueID(_ bytes: UnsafeRawBufferPointer) {
        counts.pointee.uniqueID = put(bytes, at: Self.head + Self.idLimit, limit: Self.idLimit)
    }

    func appendBody(_ bytes: UnsafeRawBufferPointer) {
        let have = counts.pointee.body
        counts.pointee.body =
            have + put(bytes, at: Self.head + 2 * Self.idLimit + have, limit: Self.bodyLimit - have)
    }

    private func put(_ bytes: UnsafeRawBufferPointer, at offset: Int, limit: Int) -> Int {
        guard let from = bytes.baseAddress else { return 0 }
        let count = min(bytes.count, limit)
        (base + offset).copyMemory(from: from, byteCount: count)
        return count
    }
}

/// The header fields of a response that a client session reads.
enum ResponseField {
    case status, retryAfter, messageID, uniqueID

    init?(_ name: UnsafeRawBufferPointer) {
        switch name.count {
        case 7 where name.equals(":status"): self = .status
        case 7 where name.equals("apns-id"): self = .messageID
        case 11 where name.equals("retry-after"): self = .retryAfter
        case 14 where name.equals("apns-unique-id"): self = .uniqueID
        default: return nil
        }
    }
}

extension UnsafeRawBufferPointer {
    /// Compares the bytes with a text of the same length.
    @inline(__always)
    func equals(_ text: StaticString) -> Bool {
        memcmp(baseAddress!, text.utf8Start, text.utf8CodeUnitCount) == 0
    }
}
