import PushModel

/// Reads the fields of a record in order, and never beyond the end of its bytes.
struct RecordReader {
    private let bytes: [UInt8]
    private var offset = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    var isAtEnd: Bool { offset == bytes.count }

    mutating func byte() throws(DeviceRecordError) -> UInt8 {
        guard offset < bytes.count else { throw .length }
        defer { offset += 1 }
        return bytes[offset]
    }

    /// Reads a number in base 128 of at most 2^48. Longer forms of a number than necessary are errors, so that equal records have
    /// equal bytes.
    mutating func number() throws(DeviceRecordError) -> Int64 {
        var number: UInt64 = 0
        for shift in stride(from: UInt64(0), to: 56, by: 7) {
            let byte = try byte()
            number |= UInt64(byte & 0x7F) << shift
            guard byte < 0x80 else { continue }
            guard byte > 0 || shift == 0, number <= 1 << 48 else { throw .value(.number) }
            return Int64(foreign: number)
        }
        throw .value(.number)
    }

    mutating func count(upTo limit: Int) throws(DeviceRecordError) -> Int {
        let count = try number()
        guard count <= limit else { throw .value(.number) }
        return Int(foreign: count)
    }

    /// Reads a length, which must be in the range, and then as many bytes.
    mutating func counted(
        _ lengths: ClosedRange<Int>, _ field: DeviceRecordError.Field
    ) throws(DeviceRecordError) -> [UInt8] {
        let count = Int(foreign: try number())
        guard lengths.contains(count) else { throw .value(field) }
        guard count <= bytes.count - offset else { throw .length }
        defer { offset += count }
        return Array(bytes[offset..<offset + count])
    }

    mutating func text(_ lengths: ClosedRange<Int>) throws(DeviceRecordError) -> String {
        let bytes = try counted(lengths, .text)
        guard bytes.withUnsafeBytes({ UTF8Text.isValid($0) }) else { throw .value(.text) }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Reads the number of a name that starts with the prefix, and returns the rest of the name.
    mutating func name(_ names: AttributeNames, prefix: String) throws(DeviceRecordError) -> String {
        try Self.name(number(), names, prefix: prefix)
    }

    /// The rest of the name with this number, which must start with the prefix.
    static func name(
        _ number: Int64, _ names: AttributeNames, prefix: String
    ) throws(DeviceRecordError) -> String {
        let number = Int(foreign: number)
        guard let name = names.name(of: number) else { throw .unknownName(number) }
        // Compare bytes, not characters: Unicode may combine the colon with the next character.
        guard name.text.utf8.starts(with: prefix.utf8) else { throw .value(.name) }
        return String(decoding: name.text.utf8.dropFirst(prefix.utf8.count), as: UTF8.self)
    }
}
