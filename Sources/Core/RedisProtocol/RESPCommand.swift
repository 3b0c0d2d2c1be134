import PushModel

/// A Redis command: its arguments, already encoded as bulk strings. Arguments may contain any bytes.
package struct RESPCommand: Sendable {
    package private(set) var argumentCount = 0
    private var encoded: [UInt8] = []

    package init() {}

    package init(_ words: String...) {
        for word in words { append(word) }
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

    package mutating func append(_ bytes: UnsafeRawBufferPointer) {
        argumentCount += 1
        append(bulk: bytes)
    }

    package mutating func append(_ value: Int64) {
        argumentCount += 1
        withUnsafeTemporaryAllocation(byteCount: Decimal.longest, alignment: 1) { room in
            let count = Decimal.write(value, to: room)
            append(bulk: UnsafeRawBufferPointer(rebasing: room[..<count]))
        }
    }

    package mutating func append(_ value: Int) { append(Int64(value)) }

    package mutating func append(argumentsOf other: RESPCommand) {
        argumentCount += other.argumentCount
        encoded += other.encoded
    }

    /// Appends the whole command to `output`.
    package func write(into output: inout [UInt8]) {
        withParts { header, arguments in
            output.append(contentsOf: header)
            output.append(contentsOf: arguments)
        }
    }

    /// Passes the command's header (`*N\r\n`) and its encoded arguments to the closure, which can send both without a copy.
    package func withParts(
        _ body: (_ header: UnsafeRawBufferPointer, _ arguments: UnsafeRawBufferPointer) -> Void
    ) {
        precondition(argumentCount > 0, "a command has at least its name")
        withUnsafeTemporaryAllocation(byteCount: 24, alignment: 1) { room in
            room[0] = UInt8(ascii: "*")
            let end =
                1
                + Decimal.write(
                    Int64(argumentCount), to: UnsafeMutableRawBufferPointer(rebasing: room[1...]))
            room[end] = UInt8(ascii: "\r")
            room[end + 1] = UInt8(ascii: "\n")
            let header = UnsafeRawBufferPointer(rebasing: room[..<(end + 2)])
            encoded.withUnsafeBytes { body(header, $0) }
        }
    }
}

extension RESPCommand {
    private mutating func append(bulk bytes: UnsafeRawBufferPointer) {
        encoded.append(UInt8(ascii: "$"))
        encoded.append(decimal: Int64(bytes.count))
        appendLineEnd()
        encoded.append(contentsOf: bytes)
        appendLineEnd()
    }

    private mutating func appendLineEnd() {
        encoded.append(UInt8(ascii: "\r"))
        encoded.append(UInt8(ascii: "\n"))
    }
}
