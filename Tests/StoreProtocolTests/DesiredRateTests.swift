import Testing

@testable import StoreProtocol

@Suite struct DesiredRateTests {
    @Test(
        arguments: [
            ("off", DesiredRate.off), ("50", .limit(50)), ("2.5", .limit(2.5)), ("0", nil), ("-1", nil),
            ("inf", nil), ("nan", nil), ("1e308", nil), ("1e-300", nil), ("1e10", nil), ("1e-07", nil),
            ("many", nil), ("", nil),
        ] as [(String, DesiredRate?)])
    func `a desired rate is off or a positive number`(text: String, rate: DesiredRate?) {
        #expect(DesiredRate(text) == rate)
        if let rate { #expect(DesiredRate(rate.text) == rate && rate.text == text) }
    }
}
