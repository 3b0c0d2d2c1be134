import FarmPolicy
import Testing

@Suite struct AdmissionPolicyTests {
    private static func used(_ percent: Int, open: Int = 0) -> AdmissionPolicy.Reading {
        .init(used: percent * 1000, limit: 100_000, open: open)
    }

    @Test(arguments: [
        (0, AdmissionPolicy.Memory.relieved), (59, .relieved), (60, .keep), (69, .keep), (70, .full),
        (100, .full),
        (170, .full),
    ])
    func `an app is full from the upper mark and relieved below the lower mark`(
        percent: Int, memory: AdmissionPolicy.Memory
    ) {
        var policy = AdmissionPolicy()
        #expect(policy.decide(Self.used(percent), now: 0).memory == memory)
    }

    @Test func `an app without a limit is never full`() {
        var policy = AdmissionPolicy()
        let reading = AdmissionPolicy.Reading(used: .max, limit: 0, open: .max)
        #expect(policy.decide(reading, now: 0) == .init(memory: .relieved, limitsIntake: false))
    }

    @Test func `between the marks an app is relieved after a while without a break`() {
        var policy = AdmissionPolicy()
        #expect(policy.decide(Self.used(75), now: 0).memory == .full)
        #expect(policy.decide(Self.used(65), now: 1_000).memory == .keep)
        #expect(policy.decide(Self.used(65), now: 30_999).memory == .keep)
        #expect(policy.decide(Self.used(65), now: 31_000).memory == .relieved)
        #expect(policy.decide(Self.used(70), now: 32_000).memory == .full)
        #expect(policy.decide(Self.used(69), now: 33_000).memory == .keep)
        #expect(policy.decide(Self.used(71), now: 60_000).memory == .full)
        #expect(policy.decide(Self.used(69), now: 61_000).memory == .keep)
        #expect(policy.decide(Self.used(69), now: 90_999).memory == .keep)
    }

    @Test func `the intake pauses while accepted jobs use half of the memory`() {
        var policy = AdmissionPolicy()
        func limitsIntake(_ percent: Int) -> Bool {
            policy.decide(.init(used: 0, limit: 8_000_000, open: percent * 1_000), now: 0).limitsIntake
        }
        #expect(
            !limitsIntake(49) && limitsIntake(50) && limitsIntake(46) && !limitsIntake(44)
                && !limitsIntake(49))
    }
}
