import APNs
import RandomTesting
import Testing

struct ProviderTokenAgeTests {
    private static let minute: Int64 = 60
    private var age = ProviderTokenAge()

    @Test func `the first token is made at once and the next after 50 minutes`() {
        var age = age
        #expect(age.decide(now: 1000) == .mint)
        age.minted(at: 1000)
        #expect(age.decide(now: 1000) == .keep)
        #expect(age.decide(now: 1000 + 50 * 60 - 1) == .keep)
        #expect(age.decide(now: 1000 + 50 * 60) == .mint)
    }

    @Test(arguments: [
        (20 as Int64, ProviderTokenAge.Decision.mint), (19, .wrong), (0, .wrong), (-10, .wrong), (59, .mint),
    ])
    func `a refused token is replaced at most once in 20 minutes`(
        minutes: Int64, decision: ProviderTokenAge.Decision
    ) {
        var age = age
        age.minted(at: 90_000)
        age.minted(at: 100_000)
        let now = 100_000 + minutes * Self.minute
        age.refuse(tokenOf: 100_000, now: now)
        #expect(age.decide(now: now) == decision)
        #expect((age.renewalIn(now: now) == 0) == (decision == .mint))
    }

    @Test func `a first token that is refused at once is renewed once`() {
        var age = age
        age.minted(at: 100_000)
        age.refuse(tokenOf: 100_000, now: 100_001)
        #expect(age.decide(now: 100_001) == .mint)
        age.minted(at: 100_001)
        #expect(age.decide(now: 100_001) == .keep)
        age.refuse(tokenOf: 100_001, now: 100_002)
        #expect(age.decide(now: 100_002) == .wrong)
    }

    @Test func `the successor of a refused token is younger even within one second`() {
        var age = age
        age.minted(at: 100_000)
        #expect(age.issueTime(now: 100_000) == 100_000)
        age.refuse(tokenOf: 100_000, now: 100_000)
        #expect(age.issueTime(now: 100_000) == 100_001)
        #expect(age.issueTime(now: 100_700) == 100_700)
    }

    @Test func `a refused token of another host is not used and its renewal counts here`() {
        var age = age
        // At its start, a coordinator reads from Redis which token was refused.
        age.refuse(tokenOf: 100_000, now: 100_100)
        #expect(age.decide(now: 100_100) == .mint)
        let isOlder = age.adopt(issuedAt: 99_000, now: 100_100)
        let isRefused = age.adopt(issuedAt: 100_000, renewedAt: 100_000, now: 100_100)
        #expect(!isOlder && !isRefused)
        #expect(age.decide(now: 100_100) == .wrong)
        #expect(age.renewalIn(now: 100_100) == 1_100)
        let isNewer = age.adopt(issuedAt: 100_050, renewedAt: 100_050, now: 100_100)
        #expect(isNewer)
        #expect(age.decide(now: 100_100) == .keep)
    }

    @Test func `a refusal of another host with a time in the future is ignored`() {
        var age = age
        age.minted(at: 100_000)
        age.refuse(tokenOf: .max, now: 100_000)
        #expect(age.decide(now: 100_000) == .keep && age.issueTime(now: 100_000) == 100_000)
    }

    @Test func `late responses about the previous token change nothing`() {
        var age = age
        age.minted(at: 0)
        age.refuse(tokenOf: 0, now: 30 * Self.minute)
        #expect(age.decide(now: 30 * Self.minute) == .mint)
        age.minted(at: 30 * Self.minute)
        age.refuse(tokenOf: 0, now: 31 * Self.minute)
        #expect(age.decide(now: 31 * Self.minute) == .keep)
        age.refuse(tokenOf: 30 * Self.minute, now: 31 * Self.minute)
        #expect(age.decide(now: 31 * Self.minute) == .wrong)
    }

    @Test func `many requests renew the token at most once in 20 minutes`() {
        var random = SplitMix(seed: 11)
        for _ in 0..<200 {
            var age = age
            var now: Int64 = 1_700_000_000
            var last: Int64?
            for _ in 0..<500 {
                now += Int64.random(in: 0...600, using: &random)
                if Bool.random(using: &random) { age.refuse(tokenOf: age.issuedAt ?? 0, now: now) }
                guard age.decide(now: now) == .mint else { continue }
                if let last { #expect(now - last >= 20 * Self.minute) }
                if age.issuedAt != nil { last = now }
                age.minted(at: now)
            }
        }
    }

    @Test func `takes a newer token of another host but none from the future`() {
        var age = age
        func adopt(_ age: inout ProviderTokenAge, _ issuedAt: Int64, _ now: Int64) -> Bool {
            age.adopt(issuedAt: issuedAt, now: now)
        }
        #expect(adopt(&age, 10_000, 10_100))
        #expect(!adopt(&age, 10_000, 10_100))
        #expect(!adopt(&age, 9000, 10_100))
        #expect(adopt(&age, 10_390, 10_100))
        #expect(!adopt(&age, 20_000, 10_100))
        #expect(!adopt(&age, 11_000, 15_000))
        #expect(age.issuedAt == 10_390)
    }

    @Test func `no token from the future remains after a clock is set back`() {
        var age = age
        age.minted(at: 10_000)
        #expect(age.decide(now: 9_800) == .keep)
        #expect(age.decide(now: 5_000) == .mint)
        age.minted(at: 5_000)
        #expect(age.decide(now: 5_000) == .keep)
    }
}
