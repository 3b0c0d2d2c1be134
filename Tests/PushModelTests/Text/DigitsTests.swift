import PushModel
import Testing

struct DigitsTests {
    private func withBytes<R>(_ text: String, _ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
        try Array(text.utf8).withUnsafeBytes(body)
    }

    @Test(arguments: [0, 1, 9, 10, 99, 100, 1_700_000_000, -1, -10, .max, .min] as [Int64])
    func `writes and reads decimals`(number: Int64) {
        let text = [UInt8](unsafeUninitializedCapacity: Decimal.longest) { buffer, count in
            count = Decimal.write(number, to: UnsafeMutableRawBufferPointer(buffer))
        }
        #expect(String(decoding: text, as: UTF8.self) == String(number))
        #expect(text.withUnsafeBytes { Decimal.read($0) } == number)
        var bytes: [UInt8] = []
        bytes.append(decimal: number)
        #expect(bytes == text)
    }

    @Test(arguments: [
        "", "-", "+1", "1 ", " 1", "1.0", "a", "0x1", "9223372036854775808", "-9223372036854775809",
    ])
    func `refuses text that is not decimal`(text: String) {
        #expect(withBytes(text) { Decimal.read($0) } == nil)
    }

    @Test func `writes and reads every byte in hexadecimal`() {
        let bytes = (0...255).map { UInt8($0) }
        let text = [UInt8](unsafeUninitializedCapacity: 512) { buffer, count in
            count = bytes.withUnsafeBytes { Hexadecimal.write($0, to: UnsafeMutableRawBufferPointer(buffer)) }
        }
        let expected = bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        #expect(String(decoding: text, as: UTF8.self) == expected)
        for digits in [expected, expected.uppercased()] {
            let back = [UInt8](unsafeUninitializedCapacity: 256) { buffer, count in
                count =
                    withBytes(digits) { Hexadecimal.read($0, to: UnsafeMutableRawBufferPointer(buffer)) } ?? 0
            }
            #expect(back == bytes)
            #expect(Hexadecimal.bytes(of: digits.utf8) == bytes)
        }
    }

    @Test(arguments: ["a", "0g", "g0", "00 ", "0x", "é"]) func `refuses text that is not hexadecimal`(
        text: String
    ) {
        #expect(Hexadecimal.bytes(of: text.utf8) == nil)
        var room = [UInt8](repeating: 0, count: 8)
        #expect(
            room.withUnsafeMutableBytes { room in
                withBytes(text) { Hexadecimal.read($0, to: room) }
            } == nil)
    }
}
