import Scheduling
import Testing

struct AudienceHashTests {
    private static func place(_ device: String, _ salt: String) -> AudienceHash {
        Array(device.utf8).withUnsafeBytes { AudienceHash(device: $0, salt: salt) }
    }

    /// The device, the salt, the cohort of 8 and of 7, and the place as a fraction, rounded. A separate program computed the
    /// values from the specification of XXH64.
    private static let known: [(String, String, Int, Int, Double)] = [
        ("d-1", "ed-2026-11-24", 4, 6, 0.829802), ("d-2", "ed-2026-11-24", 3, 0, 0.950014),
        ("d-1", "ed-2026-11-25", 4, 2, 0.047020), ("d-1", "", 7, 3, 0.917337), ("", "morgen", 3, 0, 0.226714),
        ("550e8400-e29b-41d4-a716-446655440000", "morgen", 5, 4, 0.784813),
    ]

    @Test(arguments: known) func `has the recorded place`(
        device: String, salt: String, ofEight: Int, ofSeven: Int, fraction: Double
    ) {
        let place = Self.place(device, salt)
        #expect(place.cohort(of: 8) == ofEight)
        #expect(place.cohort(of: 7) == ofSeven)
        #expect(place.cohort(of: 1) == 0)
        #expect(!place.isAmongFirst(fraction - 1e-6) && place.isAmongFirst(fraction + 1e-6))
        #expect(!place.isAmongFirst(0) && place.isAmongFirst(1))
    }

    @Test func `cohorts and stages divide the audience evenly and independently`() {
        var counts = [Int](repeating: 0, count: 8)
        var ofStage = counts
        for number in 0..<40_000 {
            let place = Self.place("d-\(number)", "ed-2026-11-24")
            counts[place.cohort(of: 8)] += 1
            if place.isAmongFirst(0.1) { ofStage[place.cohort(of: 8)] += 1 }
        }
        // The counts must be within five standard deviations of 5,000 and of 500.
        #expect(counts.allSatisfy { abs($0 - 5_000) < 331 }, "\(counts)")
        #expect(ofStage.allSatisfy { abs($0 - 500) < 111 }, "\(ofStage)")
    }
}
