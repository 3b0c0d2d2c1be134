import PushModel
import Segments
import Testing

struct OrdinalNumbersTests {
    private static func random(_ count: Int, seed: UInt64) -> [UInt16: Int] {
        var random = SeededRandom(seed: seed)
        let ordinals = Array(0...UInt16.max).shuffled(using: &random).prefix(count)
        return Dictionary(uniqueKeysWithValues: ordinals.map { ($0, .random(in: 1...15, using: &random)) })
    }

    private static func numbers(_ values: [UInt16: Int]) -> OrdinalNumbers {
        var numbers = OrdinalNumbers()
        for (ordinal, value) in values { numbers[ordinal] = value }
        return numbers
    }

    @Test(arguments: [(0, 0), (1, 3), (8192, 24_576), (8193, 32_768), (65_536, 32_768)])
    func `few numbers are sparse, and read back`(count: Int, bytes: Int) throws {
        let values = Self.random(count, seed: 5)
        let numbers = Self.numbers(values)
        #expect(numbers.count == count && numbers.bytes.count == bytes)
        let read = try #require(OrdinalNumbers(bytes: numbers.bytes))
        #expect(read == numbers)
        #expect((0...UInt16.max).allSatisfy { read[$0] == values[$0, default: 0] })
    }

    @Test func `the forms have the documented bytes`() {
        #expect(Self.numbers([258: 3, 0: 15]).bytes == [0, 0, 15, 1, 2, 3])
        var dense = [UInt8](repeating: 0, count: 32_768)
        (dense[0], dense[32_767]) = (0x1F, 0x02)
        let numbers = OrdinalNumbers(bytes: dense)
        #expect(numbers == Self.numbers([0: 1, 1: 15, 65_535: 2]))
    }

    /// A cut entry, a number that is 0 or above 15, a repeated and a descending ordinal, and lengths of neither form.
    private static let wrong: [[UInt8]] = [
        [1], [0, 1], [0, 1, 0], [0, 1, 16], [0, 1, 1, 0, 1, 2], [0, 2, 1, 0, 1, 1],
        [UInt8](repeating: 1, count: 24_579), [UInt8](repeating: 1, count: 32_767),
        [UInt8](repeating: 1, count: 32_769),
    ]

    @Test(arguments: wrong) func `other bytes are refused`(bytes: [UInt8]) {
        #expect(OrdinalNumbers(bytes: bytes) == nil)
    }

    @Test func `a number is limited to what fits, and leaves its neighbour as it is`() {
        var numbers = Self.numbers([4: 7, 5: 9])
        numbers[4] = 99
        #expect(numbers[4] == 15 && numbers[5] == 9)
        numbers[5] = -1
        #expect(numbers[4] == 15 && numbers[5] == 0)
    }

    @Test func `finds the ordinals of great numbers`() {
        let numbers = Self.numbers([0: 3, 1: 2, 2: 15, 65_535: 3, 65_534: 1])
        #expect(numbers.ordinals(atLeast: 3) == [0, 2, 65_535])
        #expect(numbers.ordinals(atLeast: 1) == [0, 1, 2, 65_534, 65_535])
        #expect(numbers.ordinals(atLeast: 16).isEmpty)
    }

    @Test func `random bytes are refused or read back to equal numbers`() {
        var random = SeededRandom(seed: 8)
        var readable = 0
        for _ in 0..<400 {
            let length = Int.random(in: 0...12, using: &random)
            let bytes = (0..<length).map { _ in UInt8.random(in: 0...17, using: &random) }
            guard let numbers = OrdinalNumbers(bytes: bytes) else { continue }
            readable += 1
            #expect(numbers.bytes == bytes)
        }
        #expect(readable > 30)
    }
}
