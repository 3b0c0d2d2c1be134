import POSIX

/// The parts of one request that a server session keeps, in one reusable buffer: the values of known fields, the names of other
/// fields, and the body.
struct RequestContent: BitwiseCopyable {
    private struct ByteSpan: BitwiseCopyable {
        var start: Int32 = 0
        /// The length in bytes; -1 if the field is absent.
        var count: Int32 = -1
    }

    /// The maximum size of a header list in bytes, if no other limit is set. A request with a larger header list is refused.
    static let headerListLimit = 16_384
    /// For the size of a header list, each field counts this number of bytes in addition to its name and value.
    /// - Source: RFC 9113, section 6.5.2.
    private static let fieldOverhead = 32
    /// The maximum number of fields, known or not, in a request.
    static let fieldLimit = 100

    private let spans: UnsafeMutablePointer<ByteSpan>
    /// The names of unknown fields, at most ``fieldLimit``.
    private let otherNames: UnsafeMutablePointer<ByteSpan>
    private var otherCount = 0
    private var headerListSize = 0
    private var hasRepeatedOther = false
    private var bytes: UnsafeMutableRawPointer
    private var capacity = 2_048
    private var filled = 0
    private var fields = 0
    private var bodyStart = 0
    /// Bit n is set if the field with raw value n occurred more than once.
    private(set) var repeated: UInt32 = 0
    /// The number of received body bytes, kept or not.
    private(set) var bodyCount = 0

    init() {
        spans = .allocate(capacity: RequestField.allCases.count)
        spans.initialize(repeating: ByteSpan(), count: RequestField.allCases.count)
        otherNames = .allocate(capacity: Self.fieldLimit)
        otherNames.initialize(repeating: ByteSpan(), count: Self.fieldLimit)
        bytes = .allocate(byteCount: capacity, alignment: 16)
    }

    func deallocate() {
        spans.deallocate()
        otherNames.deallocate()
        bytes.deallocate()
    }

    mutating func clear() {
        spans.update(repeating: ByteSpan(), count: RequestField.allCases.count)
        (filled, fields, bodyStart, repeated, bodyCount) = (0, 0, 0, 0, 0)
        (otherCount, headerListSize, hasRepeatedOther) = (0, 0, false)
    }

    var hasRepeatedFields: Bool { repeated != 0 || hasRepeatedOther }

    /// - Parameter limit: the maximum size of the header list in bytes, at most 2^31 - 1.
    /// - Returns: false if the request is larger than allowed.
    mutating func add(name: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer, limit: Int) -> Bool {
        fields += 1
        headerListSize += name.count + value.count + Self.fieldOverhead
        guard fields <= Self.fieldLimit, headerListSize <= limit else { return false }
        guard let field = RequestField(name) else {
            addOther(name)
            return true
        }
        guard spans[field.rawValue].count < 0 else {
            repeated |= 1 << UInt32(field.rawValue)
            return true
        }
        spans[field.rawValue] = ByteSpan(start: Int32(filled), count: Int32(value.count))
        append(value)
        bodyStart = filled
        return true
    }

    /// Adds the name of an unknown field. libnghttp2 has checked that names are in lower case.
    private mutating func addOther(_ name: UnsafeRawBufferPointer) {
        guard !name.equals("cookie") else { return }
        for index in 0..<otherCount {
            let span = otherNames[index]
            guard Int(span.count) == name.count else { continue }
            if memcmp(bytes + Int(span.start), name.baseAddress!, name.count) == 0 {
                hasRepeatedOther = true
                return
            }
        }
        otherNames[otherCount] = ByteSpan(start: Int32(filled), count: Int32(name.count))
        otherCount += 1
        append(name)
        bodyStart = filled
    }

    mutating func addBody(_ piece: UnsafeRawBufferPointer, limit: Int) {
        bodyCount += piece.count
        append(UnsafeRawBufferPointer(rebasing: piece.prefix(max(0, limit - (filled - bodyStart)))))
    }

    func value(_ field: RequestField) -> UnsafeRawBufferPointer? {
        let span = spans[field.rawValue]
        guard span.count >= 0 else { return nil }
        return UnsafeRawBufferPointer(start: bytes + Int(span.start), count: Int(span.count))
    }

    var body: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: bytes + bodyStart, count: filled - bodyStart)
    }

    private mutating func append(_ piece: UnsafeRawBufferPointer) {
        guard piece.count > 0 else { return }
        if filled + piece.count > capacity { grow(to: filled + piece.count) }
        (bytes + filled).copyMemory(from: piece.baseAddress!, byteCount: piece.count)
        filled += piece.count
    }

    private mutating func grow(to needed: Int) {
        capacity = max(needed, 2 * capacity)
        let larger = UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: 16)
        larger.copyMemory(from: bytes, byteCount: filled)
        bytes.deallocate()
        bytes = larger
    }
}

/// The fields of a request that a server session keeps. All other fields are dropped.
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
