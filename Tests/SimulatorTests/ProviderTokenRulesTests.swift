import APNs
import Testing

@testable import Simulator

struct ProviderTokenRulesTests {
    private func token(key: String = "K", team: String = "T", at issuedAt: Int64) throws -> ProviderTokenParts
    {
        let bytes = ProviderToken.make(keyID: key, teamID: team, issuedAt: issuedAt) { _ in
            [UInt8](repeating: 1, count: 64)
        }
        return try #require(bytes.withUnsafeBytes { ProviderTokenParts($0) })
    }

    private func judge(
        _ rules: inout ProviderTokenRules, _ token: ProviderTokenParts, now: Int64, isSigned: Bool = true
    ) -> Reason? {
        rules.refusal(of: token, isSigned: isSigned, now: now)
    }

    @Test(arguments: [
        (0 as Int64, nil as Reason?), (3600, nil), (3601, .expiredProviderToken), (-3600, nil),
        (-3601, .invalidProviderToken),
    ]) func `a provider token is valid for an hour`(age: Int64, reason: Reason?) throws {
        var rules = ProviderTokenRules()
        #expect(judge(&rules, try token(at: 10_000), now: 10_000 + age) == reason)
    }

    @Test func `a bad signature is refused and does not bind the connection`() throws {
        var rules = ProviderTokenRules()
        #expect(judge(&rules, try token(team: "U", at: 0), now: 0, isSigned: false) == .invalidProviderToken)
        #expect(judge(&rules, try token(at: 0), now: 0) == nil)
    }

    @Test func `a connection is bound to its first team and key`() throws {
        var rules = ProviderTokenRules()
        #expect(judge(&rules, try token(at: 0), now: 0) == nil)
        #expect(judge(&rules, try token(team: "U", at: 0), now: 0) == .invalidProviderToken)
        #expect(judge(&rules, try token(key: "L", at: 0), now: 0) == .unrelatedKeyIDInToken)
        #expect(rules.refusalOfRepeated(now: 3600) == nil)
        #expect(rules.refusalOfRepeated(now: 3601) == .expiredProviderToken)
    }

    @Test func `a new provider token within 20 minutes is refused`() throws {
        var rules = ProviderTokenRules()
        #expect(judge(&rules, try token(at: 0), now: 100) == nil)
        #expect(judge(&rules, try token(at: 600), now: 1299) == .tooManyProviderTokenUpdates)
        #expect(judge(&rules, try token(at: 0), now: 1299) == nil)
        #expect(judge(&rules, try token(at: 600), now: 1300) == nil)
        #expect(judge(&rules, try token(at: 0), now: 1301) == .tooManyProviderTokenUpdates)
    }
}
