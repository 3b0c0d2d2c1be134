import PushModel
import Scheduling

/// Draws the variants of devices in given shares. Equal devices, salts and shares always give the same variant.
package struct VariantDraw: Sendable {
    private let holdout: Double
    private let holdoutSeed: UInt64
    private let variantSeed: UInt64
    /// For each variant, the sum of its share and the shares before it. The sum of a variant without a share equals
    /// the sum before it.
    private let sums: [Double]

    /// - Parameters:
    ///   - shares: the share of each variant, with the sum 1; at least one variant.
    ///   - holdout: the share of the devices that get no push, 0..<1.
    ///   - campaign: the id of the campaign or, for a recurring campaign, of the run.
    ///   - series: a text that campaigns share if they hold out the same devices.
    package init(shares: [Double], holdout: Double, campaign: String, series: String) {
        precondition(!shares.isEmpty, "no variants")
        var sum = 0.0
        sums = shares.map {
            sum += $0
            return sum
        }
        self.holdout = holdout
        holdoutSeed = AudienceHash.seed(ofSalt: "holdout:" + series)
        variantSeed = AudienceHash.seed(ofSalt: "variant:" + campaign)
    }

    /// Returns what a device is assigned to.
    /// - Parameters:
    ///   - partition: 0...255.
    ///   - ordinal: 0...16,777,215.
    package func arm(partition: Int, ordinal: Int) -> VariantAssignment.Arm {
        let device =
            UInt32(truncatingIfNeeded: partition) << 24 | UInt32(truncatingIfNeeded: ordinal) & 0xFF_FFFF
        return withUnsafeBytes(of: device.bigEndian) { bytes in
            if AudienceHash(device: bytes, seed: holdoutSeed).isAmongFirst(holdout) { return .holdout }
            return .variant(variant(at: AudienceHash(device: bytes, seed: variantSeed).fraction))
        }
    }

    private func variant(at fraction: Double) -> Int {
        let last = sums[sums.count - 1]
        // Rounding can make the last sum a little less or more than 1.
        let place = fraction * last
        return sums.firstIndex { place < $0 } ?? sums.firstIndex { $0 == last } ?? 0
    }
}
