import PushModel
import RandomTesting
import Testing

@testable import Scheduling

/// Reads damaged time zone files.
struct TZifFileFuzzTests {
    @Test func `any bytes are read or refused`() {
        var random = SplitMix(seed: 8536)
        let seeds = [TZifBytes().bytes, TZifBytes(version: 0).bytes] + recordedZones.map(\.bytes)
        var read = 0
        for _ in 0..<30_000 {
            var bytes = seeds[random.int(in: 0...seeds.count - 1)]
            for _ in 0...random.int(in: 0...3) {
                guard !bytes.isEmpty else { break }
                let place = random.int(in: 0...bytes.count - 1)
                switch random.int(in: 0...5) {
                case 0: bytes.removeSubrange(place..<min(bytes.count, place + random.int(in: 1...9)))
                case 1: bytes.insert(contentsOf: random.bytes(random.int(in: 1...9)), at: place)
                case 2: bytes[place] = [0, 0x7F, 0x80, 0xFF][random.int(in: 0...3)]
                // The counts, and the rule at the end.
                case 3: bytes[min(bytes.count - 1, random.int(in: 0...87))] = random.bytes(1)[0]
                case 4: bytes[max(0, bytes.count - random.int(in: 1...30))] = UInt8(random.int(in: 10...90))
                default: bytes[place] = random.bytes(1)[0]
                }
            }
            guard let rules = try? TimeZoneRules(name: "Fuzz", bytes: bytes) else { continue }
            read += 1
            for _ in 0..<4 {
                let time = UTCTime(
                    seconds: Int64(truncatingIfNeeded: random.next()) >> Int64(random.int(in: 15...60)))
                guard rules.period(at: time).seconds.contains(time.seconds) else {
                    Issue.record("\(bytes) at \(time): \(rules.period(at: time))")
                    return
                }
                let wanted = rules.localTime(at: time)
                let occurrence = rules.occurrence(of: wanted)
                // A file may change its offset many times in an hour. Then a local time may occur more than twice.
                guard rules.localTime(at: occurrence.first) == wanted, occurrence.first <= time else {
                    Issue.record("\(bytes) at \(time): \(occurrence)")
                    return
                }
            }
        }
        #expect(read > 2_000)
    }
}
