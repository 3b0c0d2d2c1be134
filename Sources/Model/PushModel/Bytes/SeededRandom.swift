/// A random number generator whose numbers depend only on its seed.
/// - Source: SplitMix64, from Steele, Lea and Flood, "Fast splittable pseudorandom number generators".
package struct SeededRandom: RandomNumberGenerator, Sendable {
    private static let step: UInt64 = 0x9E37_79B9_7F4A_7C15

    private var state: UInt64

    package init(seed: UInt64) { state = seed }

    package mutating func next() -> UInt64 {
        state &+= Self.step
        return Self.mixed(state)
    }

    /// A random number with uniform distribution in 0..<1.
    package mutating func fraction() -> Double { Double(next() >> 11) * 0x1p-53 }

    /// Returns true with the probability `share`, from 0 to 1. If `share` is 0, the generator's state does not change.
    package mutating func happens(_ share: Double) -> Bool { share > 0 && fraction() < share }

    /// Returns one number of the sequence with the seed 0. The first number of the sequence has the index 0.
    package static func number(at index: UInt64) -> UInt64 { mixed((index &+ 1) &* step) }

    private static func mixed(_ state: UInt64) -> UInt64 {
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
