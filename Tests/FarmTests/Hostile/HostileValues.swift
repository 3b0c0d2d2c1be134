import RandomTesting

/// Makes hostile values from the farm's values.
struct HostileValues {
    private var random: SplitMix

    init(seed: UInt64) { random = SplitMix(seed: seed) }

    static let numbers = [
        "-1", "0", "64", "65536", "4294967296", "281474976710656", "281474976710657", "-281474976710657",
        "9007199254740993", "9223372036854775807", "-9223372036854775808", "9223372036854775808",
        "18446744073709551615", "18446744073709551616", "-8000000000000000", "8000000000000000",
        "1e308", "-1e308", "1e-300", "1e19", "nan", "-nan", "inf", "-inf", "0x7fffffffffffffff", "1.5", "-0",
        String(repeating: "9", count: 400),
    ]

    static let texts = [
        "", " ", "s -1", "s 64", "64 -1 9223372036854775807", "*", "-", "|||||", ":::", "a:b:c:d", ".",
        "..h..",
        "-1.h.-1.-1", "9223372036854775807-9223372036854775807", "0-0", "\u{0}", "{}", "[", "null",
        #"{"host":1e999,"workers":[{"pid":-1e308,"rate":1e308,"since":9223372036854775807}]}"#,
        String(repeating: "x", count: 70_000), String(repeating: ",", count: 5_000),
        "1-281474976710656", "1-65536,1-65536", "\u{FFFD}\u{200B}\u{1B}[2J\n\r",
    ]

    mutating func number() -> String { Self.numbers[random.int(in: 0...Self.numbers.count - 1)] }

    mutating func text() -> String { Self.texts[random.int(in: 0...Self.texts.count - 1)] }

    mutating func bytes(_ count: Int) -> [UInt8] { random.bytes(count) }

    /// Makes a score for a sorted set.
    mutating func score() -> String {
        let scores = [
            "-inf", "inf", "0", "-1", "1e308", "-1e308", "1e-300", "9223372036854775807", "1780000000000",
        ]
        return scores[random.int(in: 0...scores.count - 1)]
    }

    /// Makes a replacement of a value, or a copy with a changed part.
    mutating func mutant(of bytes: [UInt8]) -> [UInt8] {
        switch random.int(in: 0...9) {
        case 0: return Array(text().utf8)
        case 1: return Array(number().utf8)
        case 2: return random.bytes(random.int(in: 0...40))
        case 3: return Array(bytes.prefix(random.int(in: 0...max(0, bytes.count))))
        case 4: return bytes + bytes
        case 5:
            var changed = bytes
            for _ in 0..<4 where !changed.isEmpty {
                changed[random.int(in: 0...changed.count - 1)] = UInt8(truncatingIfNeeded: random.next())
            }
            return changed
        default: return withNumbers(changedIn: bytes)
        }
    }

    /// Replaces half of the numbers in a text by other numbers.
    private mutating func withNumbers(changedIn bytes: [UInt8]) -> [UInt8] {
        var changed: [UInt8] = []
        var digits: [UInt8] = []
        for byte in bytes.prefix(20_000) + [0] {
            if (0x30...0x39).contains(byte) {
                digits.append(byte)
                continue
            }
            if !digits.isEmpty { changed += random.chance(2) ? Array(number().utf8) : digits }
            digits = []
            changed.append(byte)
        }
        return changed.dropLast() + bytes.dropFirst(20_000)
    }
}

extension HostileValues: RandomNumberGenerator {
    mutating func next() -> UInt64 { random.next() }
}
