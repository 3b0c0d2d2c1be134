import Testing

@testable import Worker

@Suite struct SuppressionFilterTests {
    @Test(
        arguments: [
            (1_000_000, 1000, false), (999_999, 1000, true), (1_000_001, 1000, false), (0, 1, true),
            (1_700_000_000_000, 1_699_999_999, false), (1_700_000_000_000, 1_700_000_001, true),
            (5, .max, true),
            (5, .min, false), (.max, 1, false), (.min, 1, true),
        ] as [(Int64, Int64, Bool)])
    func `detects a registration after the gateway found the token invalid`(
        timestamp: Int64, registeredAt: Int64, isAfter: Bool
    ) {
        #expect(SuppressionFilter.isRegistration(atSecond: registeredAt, after: timestamp) == isAfter)
    }
}
