import FarmPolicy
import PushModel
import RandomTesting
import Testing

struct SuppressionTableTests {
    private static let now: Int64 = 1_700_000_000
    private static let day: Int64 = 86_400

    private func record(
        _ reason: SuppressionReason?, _ token: [UInt8] = [1, 2, 3], scope: UInt32 = 7, time: Int64 = now
    ) -> SuppressionRecord {
        SuppressionRecord(reason: reason, scope: scope, time: time, token: token[...])
    }

    private func reason(
        _ table: SuppressionTable, _ token: [UInt8] = [1, 2, 3], scope: UInt32 = 7,
        registeredAt: Int64? = nil, now: Int64 = now
    ) -> SuppressionReason? {
        token.withUnsafeBytes { table.entry($0, scope: scope, registeredAt: registeredAt, now: now)?.reason }
    }

    @Test func `a token is suppressed in its scope only`() {
        var table = SuppressionTable(life: 30 * Self.day)
        #expect(table.isEmpty && reason(table) == nil)
        table.apply(record(.unregistered), recorded: Self.now)
        #expect(reason(table) == .unregistered)
        #expect(reason(table, scope: 8) == nil)
        #expect(reason(table, [1, 2, 4]) == nil)
    }

    @Test(arguments: SuppressionReason.allCases)
    func `a later registration lifts a 410 or feedback record and no other record`(
        cause: SuppressionReason
    ) {
        var table = SuppressionTable(life: 30 * Self.day)
        table.apply(record(cause, time: 1000), recorded: Self.now)
        #expect(reason(table) == cause)
        #expect(reason(table, registeredAt: 999) == cause)
        #expect(reason(table, registeredAt: 1000) == cause, "at the same time is not later")
        let isLifted = [SuppressionReason.unregistered, .expiredToken, .feedback].contains(cause)
        #expect(reason(table, registeredAt: 1001) == (isLifted ? nil : cause))
    }

    @Test(arguments: SuppressionReason.allCases, SuppressionReason.allCases)
    func `a record that a registration can lift renews a permanent record without replacing it`(
        first: SuppressionReason, second: SuppressionReason
    ) {
        var table = SuppressionTable(life: 30 * Self.day)
        table.apply(record(first, time: 5), recorded: Self.now)
        table.apply(record(second, time: 6), recorded: Self.now + 20 * Self.day)
        let stays = !first.yieldsToRegistration && second.yieldsToRegistration
        #expect(table.count == 1 && reason(table) == (stays ? first : second))
        let isLifted = first.yieldsToRegistration && second.yieldsToRegistration
        #expect((reason(table, registeredAt: .max) == nil) == isLifted)
        #expect(reason(table, now: Self.now + 40 * Self.day) != nil)
        table.apply(record(second, time: 7), recorded: Self.now + 60 * Self.day)
        #expect(reason(table, now: Self.now + 60 * Self.day) == second, "what is over keeps nothing")
    }

    @Test func `a record is written again only with more content or after half of its lifetime`() {
        var table = SuppressionTable(life: 30 * Self.day)
        #expect(!table.covers(record(.operator), at: Self.now))
        func covers(_ reason: SuppressionReason?, time: Int64 = 10, scope: UInt32 = 7, after days: Int64 = 0)
            -> Bool
        {
            table.covers(record(reason, scope: scope, time: time), at: Self.now + days * Self.day)
        }
        table.apply(record(.unregistered, time: 10), recorded: Self.now)
        #expect(covers(.unregistered) && covers(.feedback) && covers(.feedback, time: 9))
        #expect(!covers(.unregistered, time: 11), "died again later")
        #expect(!covers(.operator) && !covers(nil) && !covers(.unregistered, scope: 8))
        #expect(covers(.unregistered, after: 14) && !covers(.unregistered, after: 15))
        table.apply(record(.operator, time: 10), recorded: Self.now)
        #expect(covers(.operator, time: 11) && covers(.feedback, time: 11), "no registration lifts it")
        #expect(!covers(.badDeviceToken))
        table.apply(record(.badDeviceToken, time: 10), recorded: Self.now)
        #expect(covers(.badDeviceToken) && !covers(.feedback), "the guard may take it back")
    }

    @Test func `the last record counts and a removal ends it`() {
        var table = SuppressionTable(life: 30 * Self.day)
        table.apply(record(.unregistered, time: 5), recorded: Self.now)
        table.apply(record(.badDeviceToken), recorded: Self.now)
        #expect(table.count == 1 && reason(table, registeredAt: .max) == .badDeviceToken)
        table.apply(record(nil), recorded: Self.now)
        #expect(table.isEmpty && reason(table) == nil)
        table.apply(record(nil), recorded: Self.now)
        #expect(table.isEmpty)
    }

    @Test func `a record counts for its lifetime in whole hours`() {
        var table = SuppressionTable(life: 30 * Self.day)
        table.apply(record(.feedback, time: 5), recorded: Self.now)
        #expect(reason(table, now: Self.now + 30 * Self.day - 1) == .feedback)
        #expect(reason(table, now: Self.now + 30 * Self.day + 3600) == nil)
    }

    @Test func `an expired record makes room for the next`() {
        var table = SuppressionTable(life: Self.day)
        for number in 0..<1000 { table.apply(record(.feedback, Self.token(number)), recorded: Self.now) }
        let before = table.byteCount
        let later = Self.now + 2 * Self.day
        for number in 1000..<2000 { table.apply(record(.feedback, Self.token(number)), recorded: later) }
        #expect(table.byteCount == before && table.count < 1500)
        for number in 1000..<2000 { #expect(reason(table, Self.token(number), now: later) == .feedback) }
    }

    @Test(arguments: 1...20) func `the table agrees with a dictionary`(seed: UInt64) {
        var random = SplitMix(seed: seed)
        var table = SuppressionTable(life: 30 * Self.day)
        var known: [Int: SuppressionReason] = [:]
        for _ in 0..<3000 {
            let number = Int.random(in: 0..<400, using: &random)
            let cause = random.chance(3) ? nil : SuppressionReason.allCases.randomElement(using: &random)
            if let cause, let old = known[number], !old.yieldsToRegistration, cause.yieldsToRegistration {
                // The table keeps the old reason, because a new registration of the token must not end the suppression. With the
                // new reason, the registration would end it.
            } else {
                known[number] = cause
            }
            table.apply(record(cause, Self.token(number)), recorded: Self.now)
            #expect(table.count == known.count)
        }
        for number in 0..<400 { #expect(reason(table, Self.token(number)) == known[number]) }
    }

    /// Checks that the table finds all of a hundred thousand suppressed tokens, and suppresses none of a hundred thousand other
    /// tokens.
    @Test func `a slot has 16 bytes and more than a third of the slots are used`() {
        var table = SuppressionTable(life: 30 * Self.day)
        for number in 0..<100_000 { table.apply(record(.operator, Self.token(number)), recorded: Self.now) }
        #expect(table.count == 100_000 && table.byteCount <= 100_000 * 48)
        let found = (0..<200_000).count { reason(table, Self.token($0)) != nil }
        #expect(found == 100_000)
    }

    private static func token(_ number: Int) -> [UInt8] {
        [UInt8](repeating: 7, count: 28) + (0..<4).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
    }
}
