import RandomTesting
import Testing

@testable import Gateway

/// `#expect` cannot call mutating methods of a `~Copyable` value, so these functions call them.
private func late(_ pushes: inout PushesInFlight, _ now: UInt32) -> Int? { pushes.takeLate(at: now) }

private func isInTime(_ pushes: inout PushesInFlight, _ slot: Int) -> Bool? { pushes.remove(slot)?.isInTime }

private func add(_ pushes: inout PushesInFlight, at now: UInt32, position: UInt32 = 0) -> Int {
    pushes.add(PushTicket(batch: 1, position: position), generation: 3, sentAt: now)
}

struct PushesInFlightTests {
    @Test(arguments: [0, UInt32.max - 500] as [UInt32])
    func `the oldest push is late first and not before its time`(start: UInt32) {
        var pushes = PushesInFlight(timeout: 1000)
        let slots = [0, 5, 5].map { add(&pushes, at: start &+ $0) }
        #expect(Set(slots).count == 3)
        let moments: [(UInt32, Int?)] = [
            (999, nil), (1000, slots[0]), (1004, nil), (2000, slots[1]), (2000, slots[2]), (2000, nil),
        ]
        for (moment, slot) in moments {
            let found = late(&pushes, start &+ moment)
            #expect(found == slot)
        }
        let waiting = pushes.waiting
        #expect(waiting == 0)
    }

    @Test func `a push with a response is never late and its slot is reused`() {
        var pushes = PushesInFlight(timeout: 1000)
        let (first, second) = (add(&pushes, at: 0), add(&pushes, at: 1))
        var found = isInTime(&pushes, first)
        #expect(found == true)
        let third = add(&pushes, at: 500)
        #expect(third == first)
        var slot = late(&pushes, 1400)
        #expect(slot == second)
        slot = late(&pushes, 1499)
        #expect(slot == nil)
        slot = late(&pushes, 1500)
        #expect(slot == third)
        found = isInTime(&pushes, third)
        #expect(found == false)
    }

    @Test func `a late push gets one outcome before or after the end of its stream`() {
        var pushes = PushesInFlight(timeout: 1000)
        let slot = add(&pushes, at: 0, position: 7)
        _ = late(&pushes, 1000)
        let ticket = pushes.abandon(slot)
        #expect(ticket == PushTicket(batch: 1, position: 7))
        let found = isInTime(&pushes, slot)
        #expect(found == nil)
    }

    @Test func `open pushes agree with a plain list`() throws {
        for seed in 0..<500 as Range<UInt64> {
            var random = SplitMix(seed: seed)
            var pushes = PushesInFlight(timeout: 100)
            var list: [(slot: Int, sentAt: UInt32)] = []
            var lateSlots: Set<Int> = []
            var now: UInt32 = 0
            for _ in 0..<300 {
                now += UInt32.random(in: 0...20, using: &random)
                switch Int.random(in: 0...2, using: &random) {
                case 0 where list.count < 12:
                    let slot = add(&pushes, at: now)
                    try BrokenInvariant.unless(
                        !list.contains { $0.slot == slot } && !lateSlots.contains(slot),
                        "seed \(seed): slot \(slot)")
                    list.append((slot, now))
                case 1:
                    let open = list.map(\.slot) + lateSlots.sorted()
                    guard let slot = open.randomElement(using: &random) else { continue }
                    let found = isInTime(&pushes, slot)
                    let isInTime = lateSlots.remove(slot) == nil
                    try BrokenInvariant.unless(found == isInTime, "seed \(seed): slot \(slot)")
                    list.removeAll { $0.slot == slot }
                default:
                    while let slot = pushes.takeLate(at: now) {
                        try BrokenInvariant.unless(
                            !list.isEmpty && list[0].slot == slot && list[0].sentAt + 100 <= now,
                            "seed \(seed): slot \(slot)")
                        lateSlots.insert(list.removeFirst().slot)
                    }
                    try BrokenInvariant.unless(
                        list.first.map { $0.sentAt + 100 > now } ?? true, "seed \(seed): a push stays late")
                }
                let waiting = pushes.waiting
                try BrokenInvariant.unless(waiting == list.count, "seed \(seed)")
            }
        }
    }
}
