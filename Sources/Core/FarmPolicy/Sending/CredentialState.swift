/// Tracks whether an app's credentials are trusted, and decides how to handle responses that reject the credentials.
///
/// Each renewal of the credentials starts a new generation. Every response names the generation of its request. Therefore, late
/// responses to requests with old credentials do not count as a failure of the new credentials.
package struct CredentialState: Hashable, Sendable {
    package typealias Generation = Int

    package enum State: Hashable, Sendable {
        case ok
        /// New credentials were requested and have not arrived.
        case refreshing
        /// New credentials are in use, but no response has confirmed the credentials yet.
        case trial
        /// Sending is paused until an operator resumes the app.
        case paused(reason: String)
    }

    package enum Action: Hashable, Sendable {
        /// Sends the push again with the present credentials, without counting an attempt.
        case resend
        /// Renews the credentials, reconnects, and sends the push again without counting an attempt.
        case renew
        /// Pauses the app. Later responses that reject the credentials get ``stayPaused``.
        case pause(reason: String)
        /// Returns the push to the queue without counting an attempt, because the app is already paused.
        case stayPaused
    }

    package private(set) var state = State.ok
    package private(set) var generation: Generation = 0

    package init() {}

    /// Handles a response that says that the credentials are out of date.
    package mutating func rejectedAsStale(reason: String, generation sent: Generation) -> Action {
        switch state {
        case .paused: return .stayPaused
        case _ where sent < generation: return .resend
        case .ok:
            state = .refreshing
            return .renew
        case .refreshing: return .resend
        case .trial: return pause(reason)
        }
    }

    /// Handles a response that rejects the credentials.
    package mutating func rejected(reason: String, generation sent: Generation) -> Action {
        switch state {
        case .paused: .stayPaused
        case _ where sent < generation: .resend
        case .ok, .refreshing, .trial: pause(reason)
        }
    }

    /// Handles a response that confirms the credentials.
    package mutating func accepted(generation sent: Generation) {
        if state == .trial, sent == generation { state = .ok }
    }

    /// Notes new credentials, including credentials that were renewed because of their age.
    package mutating func renewed() {
        generation += 1
        if state == .refreshing { state = .trial }
    }

    /// Handles a failed renewal: pauses the app with `reason`, unless the app is already paused.
    package mutating func notRenewed(reason: String) -> Action {
        if case .paused = state { return .stayPaused }
        return pause(reason)
    }

    /// Notes that an operator resumed the app, with the same or with new credentials.
    package mutating func resumed() {
        generation += 1
        state = .ok
    }

    private mutating func pause(_ reason: String) -> Action {
        state = .paused(reason: reason)
        return .pause(reason: reason)
    }
}
