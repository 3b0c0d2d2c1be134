import FarmPolicy
import Testing

struct LastingConditionTests {
    @Test func `a condition must last without interruption`() {
        var condition = LastingCondition(limit: .seconds(10))
        let start = ContinuousClock.now
        for (second, isPresent, lasts) in [
            (0, true, false), (9, true, false), (10, true, true), (11, false, false), (12, true, false),
            (21, true, false),
            (22, true, true),
        ] {
            #expect(condition.note(isPresent, at: start + .seconds(second)) == lasts, "at \(second) s")
        }
    }
}
