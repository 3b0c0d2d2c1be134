import PushModel
import Testing
import Variants

struct VariantAssignmentTests {
    @Test func `a device keeps its first assignment, also in Redis's bytes`() throws {
        var chunk = VariantAssignment()
        #expect(chunk.assign(5, to: .variant(0)) == .variant(0))
        #expect(chunk.assign(5, to: .variant(3)) == .variant(0))
        #expect(chunk.assign(6, to: .variant(13)) == .variant(13))
        #expect(chunk.assign(65_535, to: .holdout) == .holdout)
        #expect(chunk.assign(65_535, to: .variant(1)) == .holdout)
        let read = try #require(VariantAssignment(bytes: chunk.bytes))
        #expect(read == chunk && read.count == 3)
        #expect([5, 6, 7, 65_535].map { read[$0] } == [.variant(0), .variant(13), nil, .holdout])
        #expect(VariantAssignment(bytes: [0]) == nil)
    }

    private static func draw(
        _ shares: [Double], holdout: Double = 0, campaign: String = "c", series: String = "s"
    ) -> VariantDraw {
        VariantDraw(shares: shares, holdout: holdout, campaign: campaign, series: series)
    }

    private static func arms(_ draw: VariantDraw, _ count: Int = 20_000) -> [VariantAssignment.Arm] {
        (0..<count).map { draw.arm(partition: $0 % 16, ordinal: $0 / 16 * 13) }
    }

    private static let shares: [[Double]] = [
        [1], [0.5, 0.5], [0.1, 0.8, 0.1], [0, 0.25, 0, 0.75, 0], [1.0 / 3, 1.0 / 3, 1.0 / 3],
    ]

    @Test(arguments: shares)
    func `variants come in their shares`(shares: [Double]) {
        let arms = Self.arms(Self.draw(shares, holdout: 0.2))
        let held = arms.filter { $0 == .holdout }.count
        #expect(abs(Double(held) / 20_000 - 0.2) < 0.01, "\(held)")
        for (index, share) in shares.enumerated() {
            let count = arms.filter { $0 == .variant(index) }.count
            if share == 0 { #expect(count == 0) }
            #expect(abs(Double(count) / Double(20_000 - held) - share) < 0.012, "\(count) for \(share)")
        }
    }

    @Test func `a draw depends only on device, salts and shares`() {
        let first = Self.arms(Self.draw([0.5, 0.5], holdout: 0.1))
        #expect(first == Self.arms(Self.draw([0.5, 0.5], holdout: 0.1)))
        // Another run of the series holds out the same devices, but draws their variants independently.
        let second = Self.arms(Self.draw([0.5, 0.5], holdout: 0.1, campaign: "d"))
        let pairs = zip(first, second)
        #expect(pairs.allSatisfy { ($0 == .holdout) == ($1 == .holdout) })
        let equal = pairs.filter { $0 == $1 && $0 != .holdout }.count
        #expect(abs(Double(equal) / 18_000 - 0.5) < 0.02, "\(equal)")
        let other = Self.arms(Self.draw([0.5, 0.5], holdout: 0.1, series: "t"))
        let both = zip(first, other).filter { $0 == .holdout && $1 == .holdout }.count
        #expect(abs(Double(both) / 20_000 - 0.01) < 0.004, "\(both)")
    }

    @Test func `a greater share keeps the devices of the smaller share`() {
        let (small, great) = (Self.arms(Self.draw([0.3, 0.7])), Self.arms(Self.draw([0.4, 0.6])))
        #expect(zip(small, great).allSatisfy { $0 != .variant(0) || $1 == .variant(0) })
    }

    @Test func `sums that rounding makes too small or too great draw a variant with a share`() {
        for shares in [[0.1, 0.2, 0.699_999_9], [0.1, 0.2, 0.7000001, 0]] {
            #expect(Self.arms(Self.draw(shares)).allSatisfy { $0 != .variant(3) && $0 != .holdout })
        }
    }
}
