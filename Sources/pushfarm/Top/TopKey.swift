/// A key that the terminal reports.
enum TopKey: Equatable {
    case up, down, pageUp, pageDown, home, end
    case enter, back, tab
    case interrupt, suspend
    case character(Character)

    /// The keys in bytes that were read at once. An escape at the end is the escape key.
    static func keys(in bytes: [UInt8]) -> [TopKey] {
        var (keys, rest) = ([TopKey](), bytes[...])
        while let byte = rest.popFirst() {
            switch byte {
            case 0x03: keys.append(.interrupt)
            case 0x1A: keys.append(.suspend)
            case 0x09: keys.append(.tab)
            case 0x0A, 0x0D: keys.append(.enter)
            case 0x08, 0x7F: keys.append(.back)
            case 0x1B: keys += escaped(&rest)
            case 0x20...0x7E: keys.append(.character(Character(Unicode.Scalar(byte))))
            default: continue
            }
        }
        return keys
    }

    /// Parses CSI and SS3 sequences. Unknown sequences are skipped as a whole.
    private static func escaped(_ rest: inout ArraySlice<UInt8>) -> [TopKey] {
        guard let kind = rest.first, kind == UInt8(ascii: "[") || kind == UInt8(ascii: "O") else {
            return [.back]
        }
        rest.removeFirst()
        let numbers = rest.prefix { (0x30...0x3F).contains($0) }
        rest = rest.dropFirst(numbers.count)
        guard let last = rest.popFirst() else { return [] }
        switch (last, String(decoding: numbers, as: UTF8.self)) {
        case (UInt8(ascii: "A"), _): return [.up]
        case (UInt8(ascii: "B"), _): return [.down]
        case (UInt8(ascii: "C"), _): return [.enter]
        case (UInt8(ascii: "D"), _): return [.back]
        case (UInt8(ascii: "H"), _), (UInt8(ascii: "~"), "1"), (UInt8(ascii: "~"), "7"): return [.home]
        case (UInt8(ascii: "F"), _), (UInt8(ascii: "~"), "4"), (UInt8(ascii: "~"), "8"): return [.end]
        case (UInt8(ascii: "~"), "5"): return [.pageUp]
        case (UInt8(ascii: "~"), "6"): return [.pageDown]
        default: return []
        }
    }
}
