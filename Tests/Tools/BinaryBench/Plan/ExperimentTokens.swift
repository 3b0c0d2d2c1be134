/// The device tokens of an experiment. Each token is computed from its place, so all processes make the same tokens.
package struct ExperimentTokens: Hashable, Sendable, Codable {
    /// The indices of the tokens that the gateway refuses.
    package enum Bad: Hashable, Sendable, Codable {
        case none
        /// This number of bad tokens at even distances.
        case evenly(Int)
        /// One bad token at this place, counted from 1.
        case at(Int)
        /// Every second token is bad: B and D of A to E.
        case everySecond
    }

    package let count: Int
    package let bad: Bad

    package init(count: Int, bad: Bad = .none) { (self.count, self.bad) = (count, bad) }

    package func isBad(_ index: Int) -> Bool {
        switch bad {
        case .none: false
        case .evenly(let number):
            number > 0 && index % (count / number) == count / number / 2 && index / (count / number) < number
        case .at(let number): index == number - 1
        case .everySecond: index % 2 == 1
        }
    }

    /// The number of bad tokens among the first `length` tokens.
    package func badCount(among length: Int) -> Int { (0..<length).count { isBad($0) } }

    /// The token at a place: 32 bytes. The simulator refuses tokens that begin with `bad00000`. Only the bad tokens of
    /// an experiment begin with these digits.
    package func token(_ index: Int) -> [UInt8] {
        var bytes: [UInt8] = isBad(index) ? [0xBA, 0xD0, 0, 0] : [0xAA]
        bytes.reserveCapacity(32)
        withUnsafeBytes(of: UInt32(index).bigEndian) { bytes += $0 }
        var state = UInt64(index)
        while bytes.count < 32 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            bytes.append(UInt8(truncatingIfNeeded: state >> 56))
        }
        return bytes
    }

    package func hex(_ index: Int) -> String { String(decoding: hexBytes(index), as: UTF8.self) }

    private func hexBytes(_ index: Int) -> [UInt8] {
        let digits = Array("0123456789abcdef".utf8)
        return token(index).flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
    }

    /// The indices of one sender's tokens. The senders share the first `length` tokens by a hash.
    package func indices(among length: Int, of sender: Int, senders: Int) -> [Int] {
        guard senders > 1 else { return Array(0..<length) }
        return (0..<length).filter { index in
            let hash = token(index).reduce(0xCBF2_9CE4_8422_2325 as UInt64) {
                ($0 ^ UInt64($1)) &* 0x100_0000_01B3
            }
            return Int(hash >> 32) % senders == sender
        }
    }
}
