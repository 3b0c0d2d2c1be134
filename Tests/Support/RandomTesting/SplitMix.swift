/// Random numbers that are the same in every run: the SplitMix64 generator with a fixed seed.
package struct SplitMix: RandomNumberGenerator, Sendable {
    private var state: UInt64

    package init(seed: UInt64) { state = seed }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    package mutating func bytes(_ count: Int) -> [UInt8] {
        (0..<count).map { _ in UInt8(truncatingIfNeeded: next()) }
    }

    /// Returns the same as `Int.random(in:using:)`. In a build without optimisation, `Int.random(in:using:)` takes ten times as
    /// long, because it is generic.
    package mutating func int(in range: ClosedRange<Int>) -> Int {
        let width = UInt64(range.upperBound - range.lowerBound) + 1
        var product = next().multipliedFullWidth(by: width)
        if product.low < width {
            let least = (0 &- width) % width
            while product.low < least { product = next().multipliedFullWidth(by: width) }
        }
        return range.lowerBound + Int(product.high)
    }

    package mutating func chance(_ oneIn: UInt64) -> Bool { next() % oneIn == 0 }
}
