import FarmPolicy
import RandomTesting
import Testing

/// A `~Copyable` value cannot be used inside `#expect`, so mutations are made by these.
private func expire(_ deadlines: inout RequestDeadlines, _ now: ContinuousClock.Instant) -> RequestDeadlines
    .Request?
{
    deadlines.expire(at: now)
}

private func remove(_ deadlines: inout RequestDeadlines, _ slot: Int, _ generation: UInt32) -> Bool {
    deadlines.remove(RequestDeadlines.Request(slot: slot, generation: generation))
}

struct RequestDeadlinesTests {
    typealias Request = RequestDeadlines.Request
    static let start = ContinuousClock().systemEpoch

    private func at(_ milliseconds: Int) -> ContinuousClock.Instant {
        Self.start.advanced(by: .milliseconds(milliseconds))
    }

    @Test func `expires the oldest first and not before its time`() {
        var deadlines = RequestDeadlines(slots: 4, timeout: .seconds(1), start: Self.start)
        var expired: Request?
        #expect(deadlines.next == nil)
        deadlines.add(Request(slot: 2, generation: 7), sentAt: at(0))
        deadlines.add(Request(slot: 0, generation: 1), sentAt: at(5))
        deadlines.add(Request(slot: 3, generation: 9), sentAt: at(5))
        #expect(deadlines.next == at(1000))
        expired = expire(&deadlines, at(999))
        #expect(expired == nil)
        expired = expire(&deadlines, at(1000))
        #expect(expired == Request(slot: 2, generation: 7))
        expired = expire(&deadlines, at(1004))
        #expect(expired == nil)
        expired = expire(&deadlines, at(2000))
        #expect(expired == Request(slot: 0, generation: 1))
        expired = expire(&deadlines, at(2000))
        #expect(expired == Request(slot: 3, generation: 9))
        expired = expire(&deadlines, at(2000))
        #expect(expired == nil)
        #expect(deadlines.count == 0)
    }

    @Test func `an answered request does not expire and its slot can be used again`() {
        var deadlines = RequestDeadlines(slots: 2, timeout: .seconds(1), start: Self.start)
        var expired: Request?
        var removed: Bool
        deadlines.add(Request(slot: 0, generation: 1), sentAt: at(0))
        deadlines.add(Request(slot: 1, generation: 1), sentAt: at(1))
        removed = remove(&deadlines, 0, 1)
        #expect(removed)
        removed = remove(&deadlines, 0, 1)
        #expect(!removed)
        deadlines.add(Request(slot: 0, generation: 2), sentAt: at(500))
        removed = remove(&deadlines, 0, 1)
        #expect(!removed)
        expired = expire(&deadlines, at(1400))
        #expect(expired == Request(slot: 1, generation: 1))
        #expect(deadlines.next == at(1500))
        expired = expire(&deadlines, at(1500))
        #expect(expired == Request(slot: 0, generation: 2))
    }

    @Test func `agrees with a plain list`() {
        for seed in 0..<500 as Range<UInt64> {
            var random = SplitMix(seed: seed)
            let slots = Int.random(in: 1...12, using: &random)
            var deadlines = RequestDeadlines(slots: slots, timeout: .milliseconds(100), start: Self.start)
            var list: [(request: Request, sentAt: Int)] = []
            var generations = [UInt32](repeating: 0, count: slots)
            var now = 0
            for _ in 0..<300 {
                now += Int.random(in: 0...20, using: &random)
                let slot = Int.random(in: 0..<slots, using: &random)
                let waiting = list.firstIndex { $0.request.slot == slot }
                if Bool.random(using: &random), waiting == nil {
                    generations[slot] += 1
                    let request = Request(slot: slot, generation: generations[slot])
                    deadlines.add(request, sentAt: at(now))
                    list.append((request, now))
                } else if Bool.random(using: &random) {
                    let removed = deadlines.remove(Request(slot: slot, generation: generations[slot]))
                    #expect(removed == (waiting != nil))
                    if let waiting { list.remove(at: waiting) }
                } else {
                    while let expired = deadlines.expire(at: at(now)) {
                        #expect(!list.isEmpty && list[0].request == expired && list[0].sentAt + 100 <= now)
                        list.removeFirst()
                    }
                    #expect((list.first?.sentAt ?? .max) > now - 100)
                }
                #expect(deadlines.count == list.count)
                #expect(deadlines.next == list.first.map { at($0.sentAt + 100) })
            }
        }
    }
}
