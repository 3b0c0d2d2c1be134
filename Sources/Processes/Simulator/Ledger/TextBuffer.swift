import APNs
import PushModel

/// A text buffer for appending without allocation. The caller reserves room once for each line, so that the pieces of the line
/// are written without a check of the room.
struct TextBuffer: ~Copyable {
    private var storage: UnsafeMutableRawBufferPointer
    private(set) var count = 0

    init(capacity: Int) {
        storage = .allocate(byteCount: capacity, alignment: 16)
    }

    deinit { storage.deallocate() }

    var isEmpty: Bool { count == 0 }

    /// The text so far. The bytes are valid until the buffer changes.
    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: storage[..<count]) }

    mutating func clear() { count = 0 }

    mutating func reserve(_ more: Int) {
        guard storage.count - count < more else { return }
        let larger = UnsafeMutableRawBufferPointer.allocate(
            byteCount: max(2 * storage.count, count + more), alignment: 16)
        larger.copyMemory(from: bytes)
        storage.deallocate()
        storage = larger
    }

    @inline(__always)
    mutating func put(_ bytes: UnsafeRawBufferPointer) {
        precondition(storage.count - count >= bytes.count, "text without reserved room")
        guard let from = bytes.baseAddress else { return }
        (storage.baseAddress! + count).copyMemory(from: from, byteCount: bytes.count)
        count += bytes.count
    }

    @inline(__always)
    mutating func put(_ text: StaticString) { put(text.bytes) }

    mutating func put(_ number: Int64) {
        let room = UnsafeMutableRawBufferPointer(rebasing: storage[count...])
        count += Decimal.write(number, to: room)
    }

    mutating func put(hexadecimal bytes: UnsafeRawBufferPointer) {
        count += Hexadecimal.write(bytes, to: UnsafeMutableRawBufferPointer(rebasing: storage[count...]))
    }

    /// Appends a JSON string with its quotes. The string needs up to 6 bytes for each of `bytes`, and 2 bytes for
    /// the quotes. Bytes that are not ASCII are written as `\u00XX`, because a header need not be UTF-8.
    mutating func put(quoted bytes: UnsafeRawBufferPointer) {
        put("\"")
        if Self.isPlain(bytes) {
            put(bytes)
        } else {
            for byte in bytes {
                if byte < 0x20 || byte > 0x7e || byte == 0x22 || byte == 0x5c {
                    put("\\u00")
                    withUnsafeBytes(of: byte) { put(hexadecimal: $0) }
                } else {
                    withUnsafeBytes(of: byte) { put($0) }
                }
            }
        }
        put("\"")
    }

    /// Appends a label such as `,"topic":` and a quoted text. Appends nothing if the text is nil.
    mutating func put(_ label: StaticString, quoted text: UnsafeRawBufferPointer?) {
        guard let text else { return }
        put(label)
        put(quoted: text)
    }

    mutating func put(_ label: StaticString, quoted text: String?) {
        guard let text else { return }
        put(label)
        put(quoted: text)
    }

    mutating func put(_ label: StaticString, _ number: Int64) {
        put(label)
        put(number)
    }

    mutating func put(quoted text: String) {
        var text = text
        text.withUTF8 { put(quoted: UnsafeRawBufferPointer($0)) }
    }

    /// Whether no byte needs an escape. The loop has no branch, so the compiler can use vector instructions.
    private static func isPlain(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var special: UInt8 = 0
        for byte in bytes {
            special |= byte < 0x20 ? 1 : 0
            special |= byte > 0x7e ? 1 : 0
            special |= byte == 0x22 ? 1 : 0
            special |= byte == 0x5c ? 1 : 0
        }
        return special == 0
    }
}
