import CHiredis
import RedisProtocol

/// Builds a reply from its parts. hiredis reports an array before its elements, and all parts of an element before the next
/// element.
struct RESPBuilder {
    private struct OpenArray {
        var missing: Int
        var values: [RESPValue]
    }

    private let maximumElements: Int
    private var open: [OpenArray] = []
    private var root: RESPValue?
    /// The length of an array that was refused as too long; 0 if no array was refused.
    private(set) var refusedElements = 0

    init(maximumElements: Int) {
        self.maximumElements = maximumElements
    }

    mutating func takeRoot() -> RESPValue? {
        defer { root = nil }
        return root
    }

    mutating func add(string bytes: UnsafeRawBufferPointer, type: Int32) {
        switch type {
        case REDIS_REPLY_STATUS: add(.simple(String(decoding: bytes, as: UTF8.self)))
        case REDIS_REPLY_ERROR:
            add(.error(RESPServerError(message: String(decoding: bytes, as: UTF8.self))))
        default: add(.bulk([UInt8](bytes)))
        }
    }

    /// Starts an array. Returns false if the array is longer than allowed.
    mutating func open(count: Int) -> Bool {
        guard count <= maximumElements else {
            refusedElements = count
            return false
        }
        guard count > 0 else {
            add(.array([]))
            return true
        }
        var values: [RESPValue] = []
        // The number of elements in a reply may be wrong, so memory for more than 1,024 elements is reserved only when the
        // elements arrive.
        values.reserveCapacity(min(count, 1024))
        open.append(OpenArray(missing: count, values: values))
        return true
    }

    mutating func add(_ value: RESPValue) {
        var value = value
        while let last = open.indices.last {
            open[last].values.append(value)
            open[last].missing -= 1
            if open[last].missing > 0 { return }
            value = .array(open.removeLast().values)
        }
        root = value
    }
}
