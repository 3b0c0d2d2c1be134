import Scheduling
import Testing

/// A factor divides the durations of a schedule and keeps everything else.
struct ScheduleDivisionTests {
    private static func schedule() throws -> CampaignSchedule {
        try CampaignSchedule(
            spread: .over(milliseconds: 600_000),
            stages: [
                .init(share: 0.1, gate: .wait(milliseconds: 1_800_000)), .init(share: 0.5, gate: .resume),
                .init(share: 1, gate: .resume),
            ],
            repetition: .init(every: 1_500_000, max: 4), cohorts: 8)
    }

    @Test func `durations are divided`() throws {
        let schedule = try Self.schedule().divided(by: 60)
        #expect(schedule.spread == .over(milliseconds: 10_000))
        #expect(schedule.repetition == .init(every: 25_000, max: 4))
        #expect(schedule.stages.map(\.gate) == [.wait(milliseconds: 30_000), .resume, .resume])
        #expect(schedule.stages.map(\.share) == [0.1, 0.5, 1] && schedule.cohorts == 8)
    }

    @Test(arguments: [1.0, 0.5, 0, -3, .nan]) func `other factors change nothing`(factor: Double) throws {
        #expect(try Self.schedule().divided(by: factor) == Self.schedule())
    }

    @Test func `no duration becomes zero`() throws {
        let schedule = try Self.schedule().divided(by: 1e300)
        #expect(schedule.spread == .over(milliseconds: 1) && schedule.repetition?.every == 1)
    }
}
