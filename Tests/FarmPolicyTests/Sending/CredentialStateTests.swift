import FarmPolicy
import Testing

struct CredentialStateTests {
    @Test func `stale credentials are renewed once and then proved`() {
        var credentials = CredentialState()
        #expect(credentials.maySend)
        #expect(credentials.rejectedAsStale(reason: "Expired", generation: 0) == .renew)
        #expect(!credentials.maySend)
        #expect(credentials.rejectedAsStale(reason: "Expired", generation: 0) == .resend)
        credentials.renewed()
        #expect(credentials.maySend && credentials.state == .trial && credentials.generation == 1)
        #expect(credentials.rejectedAsStale(reason: "Expired", generation: 0) == .resend)
        credentials.accepted(generation: 0)
        #expect(credentials.state == .trial)
        credentials.accepted(generation: 1)
        #expect(credentials.state == .ok)
        #expect(credentials.rejectedAsStale(reason: "Expired", generation: 0) == .resend)
        #expect(credentials.rejectedAsStale(reason: "Expired", generation: 1) == .renew)
    }

    @Test func `a second refusal before any proof pauses the app`() {
        var credentials = CredentialState()
        _ = credentials.rejectedAsStale(reason: "Expired", generation: 0)
        credentials.renewed()
        #expect(credentials.rejectedAsStale(reason: "Expired", generation: 1) == .pause(reason: "Expired"))
        #expect(!credentials.maySend)
        #expect(credentials.rejectedAsStale(reason: "Expired", generation: 1) == .stayPaused)
        #expect(credentials.rejected(reason: "Invalid", generation: 1) == .stayPaused)
        #expect(credentials.state == .paused(reason: "Expired"))
    }

    @Test func `wrong credentials pause at once but old ones do not`() {
        var credentials = CredentialState()
        #expect(credentials.rejected(reason: "Invalid", generation: 0) == .pause(reason: "Invalid"))
        credentials.renewed()
        #expect(!credentials.maySend)
        credentials.resumed()
        #expect(credentials.maySend && credentials.state == .ok)
        #expect(credentials.rejected(reason: "Invalid", generation: 0) == .resend)
        #expect(
            credentials.rejected(reason: "Invalid", generation: credentials.generation)
                == .pause(reason: "Invalid"))
    }

    @Test func `credentials that cannot be renewed pause the app with the reason`() {
        var credentials = CredentialState()
        _ = credentials.rejectedAsStale(reason: "Expired", generation: 0)
        #expect(credentials.notRenewed(reason: "clock") == .pause(reason: "clock"))
        #expect(credentials.notRenewed(reason: "clock") == .stayPaused)
    }

    @Test func `a renewal by age needs no proof`() {
        var credentials = CredentialState()
        credentials.renewed()
        #expect(credentials.state == .ok && credentials.generation == 1)
    }
}

extension CredentialState {
    fileprivate var maySend: Bool { state == .ok || state == .trial }
}
