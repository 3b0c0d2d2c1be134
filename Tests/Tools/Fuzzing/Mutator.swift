import RandomTesting

/// Changes inputs at random. ``FuzzLoop`` gets its new inputs from this type, which uses no coverage data of the compiler.
struct Mutator {
    private let words: [[UInt8]]
    private let longest: Int
    private let corpus: [[UInt8]]
    private static let edges: [UInt8] = [
        0, 1, 0x7F, 0x80, 0xFF, 0x20, 0x0A, 0x0D, 0x22, 0x2C, 0x5C, 0xC3, 0xED,
    ]

    /// - Parameter corpus: the inputs to change. The corpus must not be empty.
    init(_ target: FuzzTarget, corpus: [[UInt8]]) {
        words = target.words.map { Array($0.utf8) }
        longest = target.longestInput
        self.corpus = corpus
    }

    func next(using random: inout SplitMix) -> [UInt8] {
        var bytes = element(corpus, &random)
        for _ in 0...Int(random.next() % 5) { change(&bytes, &random) }
        return Array(bytes.prefix(longest))
    }

    private func change(_ bytes: inout [UInt8], _ random: inout SplitMix) {
        let place = Int(random.next() % UInt64(bytes.count + 1))
        let end = min(bytes.count, place + Int(random.next() % 16))
        switch random.next() % 9 {
        case 0: bytes.insert(UInt8(truncatingIfNeeded: random.next()), at: place)
        case 1: bytes.removeSubrange(place..<end)
        case 2 where place < bytes.count: bytes[place] ^= 1 << UInt8(random.next() % 8)
        case 3 where place < bytes.count: bytes[place] = element(Self.edges, &random)
        case 4: bytes.insert(contentsOf: element(words, &random), at: place)
        case 5: bytes.replaceSubrange(place..<end, with: element(words, &random))
        case 6: bytes.insert(contentsOf: Array(bytes[place..<end]), at: place)
        case 7:
            let other = element(corpus, &random)
            bytes.replaceSubrange(place..., with: other[min(place, other.count)...])
        default: if place < bytes.count { bytes[place] &+= UInt8(random.next() % 9) &- 4 }
        }
    }

    private func element<Element>(_ list: [Element], _ random: inout SplitMix) -> Element {
        list[Int(random.next() % UInt64(list.count))]
    }
}
