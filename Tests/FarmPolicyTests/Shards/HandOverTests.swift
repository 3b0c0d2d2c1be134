import FarmPolicy
import Testing

struct HandOverTests {
    private let start = ContinuousClock.now

    @Test func `at most four shards are handed over at a time`() {
        var handOver = HandOver()
        #expect(handOver.begin(Array(0..<10), at: start) == [0, 1, 2, 3])
        #expect(handOver.begin(Array(0..<10), at: start) == [])
        handOver.ended(1)
        #expect(handOver.begin([0, 2, 3, 4, 5], at: start) == [4])
        #expect(handOver.leaving == [0, 2, 3, 4] && handOver.isLeaving(4) && !handOver.isLeaving(1))
    }

    @Test func `all shards are handed over at once when a host stops`() {
        var handOver = HandOver()
        _ = handOver.begin([7], at: start)
        #expect(handOver.begin(Array(0..<64), isAll: true, at: start).count == 63)
        #expect(handOver.leaving.count == 64)
    }

    @Test func `a shard that a worker does not release stays and is not tried for a while`() {
        var handOver = HandOver()
        _ = handOver.begin([1], at: start)
        _ = handOver.begin([2], at: start + .seconds(1))
        #expect(handOver.overdue(at: start + .seconds(24.9)) == [])
        #expect(handOver.overdue(at: start + .seconds(25)) == [1])
        #expect(handOver.leaving == [2])
        #expect(handOver.begin([1, 3], at: start + .seconds(54.9)) == [3])
        #expect(handOver.begin([1, 3], at: start + .seconds(55)) == [1])
        _ = handOver.overdue(at: start + .seconds(90))
        #expect(handOver.begin([1], isAll: true, at: start + .seconds(91)) == [1])
    }

    @Test func `a hand-over can be reverted`() {
        var handOver = HandOver()
        _ = handOver.begin([1, 2, 3], at: start)
        #expect(handOver.cancel { $0 != 2 } == [1, 3])
        #expect(handOver.leaving == [2])
        #expect(handOver.begin([1], at: start) == [1])
    }

    @Test func `a shard that stays free may go to any host`() {
        var vacancies = UnclaimedLeases<Int>()
        vacancies.observe(1, isFree: true, at: start)
        vacancies.observe(2, isFree: true, at: start + .seconds(5))
        #expect(
            !vacancies.isOverdue(1, at: start + .seconds(9.9))
                && vacancies.isOverdue(1, at: start + .seconds(10)))
        #expect(
            !vacancies.isOverdue(2, at: start + .seconds(10))
                && !vacancies.isOverdue(3, at: start + .seconds(99)))
        vacancies.observe(1, isFree: true, at: start + .seconds(10))
        #expect(vacancies.isOverdue(1, at: start + .seconds(10)))
        vacancies.observe(1, isFree: false, at: start + .seconds(11))
        vacancies.observe(1, isFree: true, at: start + .seconds(12))
        #expect(!vacancies.isOverdue(1, at: start + .seconds(21)))
    }
}
