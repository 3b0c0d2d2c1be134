import FarmConfiguration
import Testing

@testable import pushfarm

struct TrialFindingTests {
    private static let app = AppConfiguration(
        name: "shop", topic: "com.example.shop", gateway: HostPort(host: "localhost", port: 443),
        credentials: .key(file: "/k/a.p8", id: "KEYKEYKEY1", team: "TEAMTEAM01"))

    @Test(arguments: [
        ("BadDeviceToken", 400, Finding.Severity.ok, "accepts key KEYKEYKEY1 of team TEAMTEAM01"),
        ("BadDeviceToken", 400, .ok, "cannot tell whether the device tokens are of production"),
        ("Unregistered", 410, .ok, "does not object to topic com.example.shop"),
        ("InvalidProviderToken", 403, .failed, "refuses key KEYKEYKEY1 of team TEAMTEAM01"),
        ("TopicDisallowed", 400, .failed, "refuses topic com.example.shop"),
        ("BadTopic", 400, .failed, "refuses topic com.example.shop"),
        ("DeviceTokenNotForTopic", 400, .failed, "refuses topic com.example.shop"),
        ("BadEnvironmentKeyIdInToken", 403, .failed, "not valid in environment production"),
        ("BadEnvironmentKeyInToken", 403, .failed, "not valid in environment production"),
        ("ExpiredProviderToken", 403, .failed, "expired"),
        ("TooManyProviderTokenUpdates", 429, .warning, "no new provider token"),
        ("ServiceUnavailable", 503, .unreachable, "status 503"), ("", 502, .unreachable, "status 502"),
    ])
    func `a response to a test push gives a finding`(
        reason: String, status: UInt16, grade: Finding.Severity, words: String
    ) {
        let finding = TrialFinding(app: Self.app).finding(.refused(status: status, reason: reason))
        #expect(finding.grade == grade && finding.text.contains(words), "\(finding)")
        #expect((finding.advice == nil) == (grade == .ok), "\(finding)")
    }

    @Test func `without a response there is no finding`() {
        let finding = TrialFinding(app: Self.app).finding(.none("cut off"))
        #expect(finding.grade == .unreachable && finding.text.contains("cut off"))
        #expect(TrialFinding(app: Self.app).finding(.accepted).grade == .ok)
        #expect(TrialFinding(app: Self.app).refusedBefore.advice?.contains("/k/a.p8") == true)
    }
}
