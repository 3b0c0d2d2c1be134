import PushModel
import RandomTesting
import Scheduling
import Testing

/// Checks the cap periods of random times near the changes of each recorded zone.
struct CapPeriodWalkTests {
    @Test(arguments: recordedZones.map(\.name), CapPeriod.allCases)
    func `a period begins and ends with itself`(
        zone: String, period: CapPeriod
    ) throws {
        let rules = Zones[zone]
        let changes = recordedZones.first { $0.name == zone }!.changeTimes.map(\.time)
        var random = SplitMix(seed: 9)
        for _ in 0..<400 {
            let change = changes[random.int(in: 0...changes.count - 1)]
            let time = UTCTime(
                milliseconds: change * 1000 + Int64(random.int(in: -200_000_000...200_000_000)))
            let bucket = period.bucket(at: time, in: rules)
            try BrokenInvariant.unless(bucket.start <= time && time < bucket.end, "\(time) in \(bucket)")
            let (first, next) = (
                period.bucket(at: bucket.start, in: rules), period.bucket(at: bucket.end, in: rules)
            )
            try BrokenInvariant.unless(first == bucket, "\(time): \(first) is not \(bucket)")
            try BrokenInvariant.unless(next.number > bucket.number, "\(time): \(next) after \(bucket)")
        }
    }
}
