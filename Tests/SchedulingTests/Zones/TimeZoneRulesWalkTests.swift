import RandomTesting
import Scheduling
import Testing

/// Checks random local times near the changes of each recorded zone, and far from them.
struct TimeZoneRulesWalkTests {
    @Test(arguments: recordedZones) func `a local time occurs where the clock shows it`(
        zone: RecordedZone
    ) throws {
        let rules = Zones[zone.name]
        var random = SplitMix(seed: 21)
        let changes = zone.changeTimes
        for _ in 0..<2_000 {
            let change = changes[random.int(in: 0...changes.count - 1)].time
            // Most local times are near a change, and some are far from every change.
            let distance = random.chance(4) ? 20_000_000 : 90_000
            let wanted = LocalTime(seconds: change + Int64(random.int(in: -distance...distance)))
            let occurrence = rules.occurrence(of: wanted)
            switch occurrence {
            case .once(let time):
                try BrokenInvariant.unless(rules.localTime(at: time) == wanted, "\(wanted): \(time)")
            case .twice(let first, let second):
                try BrokenInvariant.unless(first < second, "\(wanted): \(first), \(second)")
                for time in [first, second] {
                    try BrokenInvariant.unless(rules.localTime(at: time) == wanted, "\(wanted): \(time)")
                }
            case .skipped(let time):
                let before = rules.localTime(at: time.adding(milliseconds: -1000))
                try BrokenInvariant.unless(
                    before < wanted && wanted < rules.localTime(at: time), "\(wanted): \(time)")
            }
            // No second other than the reported times shows the local time.
            for offset in Set(zone.types.map(\.offset)) {
                let time = UTCTime(seconds: wanted.seconds - offset)
                guard rules.localTime(at: time) == wanted else { continue }
                var isSkipped = false
                if case .skipped = occurrence { isSkipped = true }
                try BrokenInvariant.unless(
                    !isSkipped && [occurrence.first, occurrence.last].contains(time), "\(wanted): not \(time)"
                )
            }
        }
    }
}
