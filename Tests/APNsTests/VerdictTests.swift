import APNs
import Testing

struct VerdictTests {
    /// Every row of Apple's table of error reasons.
    static let table: [(status: Int, reason: String, verdict: Verdict)] = [
        (400, "BadCollapseId", .requestWrong(reason: "BadCollapseId")),
        (400, "BadDeviceToken", .tokenInvalid(reason: "BadDeviceToken", timestamp: nil)),
        (400, "BadExpirationDate", .requestWrong(reason: "BadExpirationDate")),
        (400, "BadMessageId", .requestWrong(reason: "BadMessageId")),
        (400, "BadPriority", .requestWrong(reason: "BadPriority")),
        (400, "BadTopic", .configurationWrong(reason: "BadTopic")),
        (
            400, "DeviceTokenNotForTopic",
            .tokenInvalid(reason: "DeviceTokenNotForTopic", timestamp: nil)
        ),
        (400, "DuplicateHeaders", .requestWrong(reason: "DuplicateHeaders")),
        (400, "IdleTimeout", .connectionOver(reason: "IdleTimeout")),
        (400, "InvalidPushType", .requestWrong(reason: "InvalidPushType")),
        (400, "MissingDeviceToken", .requestWrong(reason: "MissingDeviceToken")),
        (400, "MissingTopic", .configurationWrong(reason: "MissingTopic")),
        (400, "PayloadEmpty", .requestWrong(reason: "PayloadEmpty")),
        (400, "TopicDisallowed", .configurationWrong(reason: "TopicDisallowed")),
        (403, "BadCertificate", .credentialsWrong(reason: "BadCertificate")),
        (403, "BadCertificateEnvironment", .credentialsWrong(reason: "BadCertificateEnvironment")),
        (403, "ExpiredProviderToken", .credentialsStale(reason: "ExpiredProviderToken")),
        (403, "Forbidden", .credentialsWrong(reason: "Forbidden")),
        (403, "InvalidProviderToken", .credentialsWrong(reason: "InvalidProviderToken")),
        (403, "MissingProviderToken", .credentialsWrong(reason: "MissingProviderToken")),
        (403, "UnrelatedKeyIdInToken", .credentialsStale(reason: "UnrelatedKeyIdInToken")),
        (403, "BadEnvironmentKeyIdInToken", .credentialsWrong(reason: "BadEnvironmentKeyIdInToken")),
        (403, "BadEnvironmentKeyInToken", .credentialsWrong(reason: "BadEnvironmentKeyInToken")),
        (404, "BadPath", .requestWrong(reason: "BadPath")),
        (405, "MethodNotAllowed", .requestWrong(reason: "MethodNotAllowed")),
        (410, "ExpiredToken", .tokenInvalid(reason: "ExpiredToken", timestamp: nil)),
        (410, "Unregistered", .tokenInvalid(reason: "Unregistered", timestamp: nil)),
        (413, "PayloadTooLarge", .requestWrong(reason: "PayloadTooLarge")),
        (429, "TooManyProviderTokenUpdates", .authenticationSlow(reason: "TooManyProviderTokenUpdates")),
        (429, "TooManyRequests", .throttled(reason: "TooManyRequests")),
        (500, "InternalServerError", .serverTrouble(reason: "InternalServerError", reconnect: false)),
        (503, "ServiceUnavailable", .serverTrouble(reason: "ServiceUnavailable", reconnect: false)),
        (503, "Shutdown", .serverTrouble(reason: "Shutdown", reconnect: true)),
    ]

    @Test(arguments: table) func `each reason of the table has its verdict`(
        row: (status: Int, reason: String, verdict: Verdict)
    ) {
        #expect(Verdict(status: row.status, reason: row.reason) == row.verdict)
        #expect(Reason(rawValue: row.reason)?.status == row.status)
        #expect(row.verdict.reason == row.reason)
    }

    @Test func `the table contains every reason`() {
        #expect(Set(Self.table.map(\.reason)) == Set(Reason.allCases.map(\.rawValue)))
    }

    @Test(arguments: [
        (400, Verdict.requestWrong(reason: "New")), (401, .credentialsWrong(reason: "New")),
        (402, .requestWrong(reason: "New")), (403, .credentialsWrong(reason: "New")),
        (404, .requestWrong(reason: "New")), (405, .requestWrong(reason: "New")),
        (407, .credentialsWrong(reason: "New")),
        (410, .tokenInvalid(reason: "New", timestamp: nil)),
        (413, .requestWrong(reason: "New")), (429, .throttled(reason: "New")),
        (499, .requestWrong(reason: "New")), (500, .serverTrouble(reason: "New", reconnect: false)),
        (502, .serverTrouble(reason: "New", reconnect: false)),
        (503, .serverTrouble(reason: "New", reconnect: false)),
        (599, .serverTrouble(reason: "New", reconnect: false)),
        (201, .requestWrong(reason: "New")), (204, .requestWrong(reason: "New")),
        (301, .configurationWrong(reason: "New")), (308, .configurationWrong(reason: "New")),
        (0, .serverTrouble(reason: "New", reconnect: false)),
        (-7, .serverTrouble(reason: "New", reconnect: false)),
        (100, .serverTrouble(reason: "New", reconnect: false)),
        (600, .serverTrouble(reason: "New", reconnect: false)),
    ]) func `an unknown reason is judged by its status`(status: Int, verdict: Verdict) {
        #expect(Verdict(status: status, reason: "New") == verdict)
    }

    @Test func `the status names a response without a reason`() {
        #expect(Verdict(status: 404) == .requestWrong(reason: "HTTP404"))
        #expect(
            Verdict(status: 410, timestamp: 5)
                == .tokenInvalid(reason: "HTTP410", timestamp: 5))
        #expect(Verdict(status: 503) == .serverTrouble(reason: "HTTP503", reconnect: false))
    }

    @Test(arguments: [401, 402, 406, 407, 408, 411, 412, 421, 431, 451, 301, 302, 307, 501, 505, 100, 0])
    func `a status that the gateway never sends is a fault between farm and gateway`(status: Int) {
        #expect(Verdict(status: status) == .serverTrouble(reason: "HTTP\(status)", reconnect: false))
        #expect(!Verdict(status: status).provesAuthentication)
    }

    @Test(arguments: [(502, false), (504, false), (520, false), (500, true), (502, true), (504, true)])
    func `a proxy that may have forwarded the push leaves the outcome unknown`(status: Int, isForeign: Bool) {
        let verdict = Verdict(status: status, isForeign: isForeign)
        #expect(verdict == .outcomeUnknown(reason: "HTTP\(status)") && !verdict.provesAuthentication)
    }

    @Test(arguments: [400, 403, 404, 405, 410, 413, 429, 503])
    func `a page from another server blames neither push nor token nor credentials`(status: Int) {
        let trouble = Verdict.serverTrouble(reason: "HTTP\(status)", reconnect: false)
        #expect(Verdict(status: status, isForeign: true) == trouble)
        #expect(Verdict(status: status, timestamp: 5, isForeign: true) == trouble)
    }

    @Test func `a malformed success must not be sent again`() {
        #expect(Verdict(status: 204) == .requestWrong(reason: "HTTP204"))
        #expect(Verdict(status: 202, isForeign: true) == .requestWrong(reason: "HTTP202"))
    }

    @Test(arguments: [
        ("", false), (#"{"reason":"BadTopic"}"#, false), (#"{}"#, false), (#" {"error":1} "#, false),
        ("<html>411 Length Required</html>", true), ("Bad Gateway", true), ("[]", true),
        (#"{"reason":"#, true),
        ("\u{0}", true),
    ]) func `recognises whether a body is from the gateway`(body: String, isForeign: Bool) {
        #expect(Array(body.utf8).withUnsafeBytes { ErrorBody.isForeign($0) } == isForeign)
    }

    @Test(arguments: ["badDeviceToken", "BadDeviceToken ", " BadDeviceToken", "BADDEVICETOKEN", ""])
    func `reasons are compared exactly and kept unchanged`(reason: String) {
        #expect(Verdict(status: 400, reason: reason) == .requestWrong(reason: reason))
    }

    @Test func `a reason counts only with a status of its class`() {
        #expect(
            Verdict(status: 500, reason: "BadDeviceToken")
                == .serverTrouble(reason: "BadDeviceToken", reconnect: false))
        #expect(Verdict(status: 400, reason: "Shutdown") == .requestWrong(reason: "Shutdown"))
        #expect(
            Verdict(status: 500, reason: "Shutdown") == .serverTrouble(reason: "Shutdown", reconnect: true))
        #expect(Verdict(status: 400, reason: "TooManyRequests") == .throttled(reason: "TooManyRequests"))
    }

    @Test func `only a response about the push proves the credentials`() {
        #expect(Verdict(status: 400, reason: "BadDeviceToken").provesAuthentication)
        #expect(Verdict(status: 410, reason: "Unregistered").provesAuthentication)
        #expect(!Verdict(status: 403, reason: "InvalidProviderToken").provesAuthentication)
        #expect(!Verdict(status: 403, reason: "ExpiredProviderToken").provesAuthentication)
        #expect(!Verdict(status: 429, reason: "TooManyProviderTokenUpdates").provesAuthentication)
        #expect(!Verdict(status: 500).provesAuthentication)
    }
}
