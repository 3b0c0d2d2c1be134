/// A command for Redis: its arguments, already encoded as bulk strings. Binary safe; reused to save allocations.
package struct RESPCommand: Sendable {
    package private(set) var argumentCount = 0
    private var encoded: [UInt8] = []

    package init() {}

    package init(_ words: String...) {
        for word in words { append(word) }
    }

    /// Forgets the arguments and keeps the memory.
    package mutating func removeAll() {
        argumentCount = 0
        encoded.removeAll(keepingCapacity: true)
    }

    package mutating func append(_ text: String) {
        argumentCount += 1
        var text = text
        text.withUTF8 { append(bulk: UnsafeRawBufferPointer($0)) }
    }

    package mutating func append(_ bytes: [UInt8]) {
        argumentCount += 1
        bytes.withUnsafeBytes { append(bulk: $0) }
    }

    package mutating func append(_ bytes: ArraySlice<UInt8>) {
        argumentCount += 1
        bytes.withUnsafeBytes { append(bulk: $0) }
    }

    package mutating func append(_ bytes: UnsafeRawBufferPointer) {
        argumentCount += 1
        append(bulk: bytes)
    }

    package mutating func append(_ value: Int64) {
        argumentCount += 1
        encoded.append(UInt8(ascii: "$"))
        encoded.append(decimal: RESPCommand.digits(value))
        encoded.appendLineEnd()
        encoded.append(decimal: value)
        encoded.appendLineEnd()
    }

    package mutating func append(_ value: Int) { append(Int64(value)) }

    /// Bytes that ``write(into:)`` adds, up to the few of the header.
    package var byteCount: Int { encoded.count }

    /// Adds the whole command to what goes out.
    package func write(into output: inout [UInt8]) {
        withParts { header, arguments in
            output.append(contentsOf: header)
            output.append(contentsOf: arguments)
        }
    }

    /// The command's start (`*N\r\n`) and its arguments, to be sent one after the other without a copy.
    package func withParts(
        _ body: (_ header: UnsafeRawBufferPointer, _ arguments: UnsafeRawBufferPointer) -> Void
    ) {
        precondition(argumentCount > 0, "a command has at least its name")
        withUnsafeTemporaryAllocation(byteCount: 24, alignment: 1) { buffer in
            var start = buffer.count - 2
            buffer[start] = UInt8(ascii: "\r")
            buffer[start + 1] = UInt8(ascii: "\n")
            var rest = argumentCount
            repeat {
                start -= 1
                buffer[start] = UInt8(ascii: "0") + UInt8(rest % 10)
                rest /= 10
            } while rest > 0
            start -= 1
            buffer[start] = UInt8(ascii: "*")
            let header = UnsafeRawBufferPointer(rebasing: buffer[start...])
            encoded.withUnsafeBytes { body(header, $0) }
        }
    }
}

extension RESPCommand {
    private mutating func append(bulk bytes: UnsafeRawBufferPointer) {
        encoded.append(UInt8(ascii: "$"))
        encoded.append(decimal: Int64(bytes.count))
        encoded.appendLineEnd()
        encoded.append(contentsOf: bytes)
        encoded.appendLineEnd()
    }

    private static func digits(_ value: Int64) -> Int64 {
        var count: Int64 = value < 0 ? 2 : 1
        var rest = value.magnitude / 10
        while rest > 0 {
            count += 1
            rest /= 10
        }
        return count
    }
}
