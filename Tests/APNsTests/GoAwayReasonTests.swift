import APNs
import Testing

struct GoAwayReasonTests {
    @Test(arguments: [
        ("", GoAwayReason.nothing), (" \n\0", .nothing),
        (#"{"reason":"BadCertificateEnvironment"}"#, .reason("BadCertificateEnvironment")),
        (#"{"reason":"Shutdown","timestamp":5}"#, .reason("Shutdown")),
        (#"{"reason":5}"#, .text(#"{"reason":5}"#)),
        (#"{"timestamp":5}"#, .text(#"{"timestamp":5}"#)),
        (
            "Maximum active streams violated for this endpoint.",
            .text("Maximum active streams violated for this endpoint.")
        ),
    ]) func `reads JSON, text and an empty note`(data: String, note: GoAwayReason) {
        #expect(withBytes(data) { GoAwayReason(debugData: $0) } == note)
    }

    @Test func `long text is cut and invalid bytes are replaced`() {
        let long = String(repeating: "ä", count: 1000)
        #expect(
            withBytes("x" + long) { GoAwayReason(debugData: $0) }.words.utf8.count <= GoAwayReason.longestText
        )
        let junk = [UInt8](repeating: 0xFF, count: 1000)
        #expect(
            junk.withUnsafeBytes { GoAwayReason(debugData: $0) }.words.utf8.count <= GoAwayReason.longestText)
    }

    @Test(arguments: [
        (GoAwayReason.nothing, Verdict.connectionOver(reason: "GOAWAY")),
        (.text("x"), .connectionOver(reason: "x")),
        (.reason("New"), .connectionOver(reason: "New")),
        (.reason("IdleTimeout"), .connectionOver(reason: "IdleTimeout")),
        (.reason("BadDeviceToken"), .connectionOver(reason: "BadDeviceToken")),
        (.reason("PayloadTooLarge"), .connectionOver(reason: "PayloadTooLarge")),
        (.reason("TooManyRequests"), .connectionOver(reason: "TooManyRequests")),
        (.reason("BadCertificateEnvironment"), .credentialsWrong(reason: "BadCertificateEnvironment")),
        (.reason("ExpiredProviderToken"), .credentialsStale(reason: "ExpiredProviderToken")),
        (.reason("TooManyProviderTokenUpdates"), .authenticationSlow(reason: "TooManyProviderTokenUpdates")),
        (.reason("TopicDisallowed"), .configurationWrong(reason: "TopicDisallowed")),
        (.reason("Shutdown"), .serverTrouble(reason: "Shutdown", reconnect: true)),
        (.reason("InternalServerError"), .serverTrouble(reason: "InternalServerError", reconnect: false)),
    ]) func `a note affects the connection and never a push`(note: GoAwayReason, verdict: Verdict) {
        #expect(note.verdict == verdict)
    }
}
