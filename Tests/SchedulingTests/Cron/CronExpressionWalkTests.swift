import PushModel
import RandomTesting
import Scheduling
import Testing

/// Walks from start to start of a cron expression through random years of each recorded zone.
struct CronExpressionWalkTests {
    @Test(arguments: recordedZones.map(\.name)) func `starts once for each local time of 130 years`(
        zone: String
    ) throws {
        let rules = Zones[zone]
        let expression = try CronExpression("30 0-3 * * *")
        var random = SplitMix(seed: 4)
        for _ in 0..<3 {
            let first = utc("1970-01-01").adding(
                milliseconds: Int64(random.int(in: 0...130 * 365)) * 86_400_000)
            var time = first
            let end = first.adding(milliseconds: 366 * 86_400_000)
            var starts: Set<UTCTime> = []
            while let next = expression.next(after: time, in: rules), next < end {
                try BrokenInvariant.unless(next > time, "\(next) after \(time)")
                starts.insert(next)
                time = next
            }
            // The same starts, from the local times.
            let days = rules.localTime(at: first).date.dayNumber - 1...rules.localTime(at: end).date.dayNumber
            let wanted = Set(
                days.flatMap { day in
                    (0...3).map { hour in
                        rules.occurrence(
                            of: LocalTime(CivilDate(dayNumber: day), second: hour * 3600 + 1800)
                        ).first
                    }
                }.filter { $0 > first && $0 < end })
            try BrokenInvariant.unless(starts == wanted, "\(starts.symmetricDifference(wanted))")
        }
    }
}
