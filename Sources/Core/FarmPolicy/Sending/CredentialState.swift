/// Whether an app's credentials are trusted, and how responses that reject them are handled.
///
/// Credentials have generations: each renewal is a new one. Answers name the generation that their request
/// was sent with, so that the many late ones of an old connection are not taken for a second failure.
package struct CredentialState: Hashable, Sendable {
    package typealias Generation = Int

    package enum State: Hashable, Sendable {
        case ok
        /// New credentials were asked for and are not here.
        case refreshing
        /// New credentials are here and no answer has proved them.
        case trial
        /// Nothing is sent until an operator resumes the app.
        case paused(reason: String)
    }

    package enum Action: Hashable, Sendable {
        /// Send the push again with the present credentials, without counting an attempt.
        case resend
        /// The same, after the credentials were renewed; ask for that, and connect again.
        case renew
        /// Pause the app: now, and only once.
        case pause(reason: String)
        /// The app is paused already: give the push back, without counting an attempt.
        case hold
    }

    package private(set) var state = State.ok
    package private(set) var generation: Generation = 0

    package init() {}

    /// An answer said that other credentials of the same key may do.
    package mutating func stale(reason: String, generation answered: Generation) -> Action {
        switch state {
        case .paused: return .hold
        case _ where answered < generation: return .resend
        case .ok:
            state = .refreshing
            return .renew
        case .refreshing: return .resend
        case .trial: return pause(reason)
        }
    }

    /// An answer refused the credentials.
    package mutating func wrong(reason: String, generation answered: Generation) -> Action {
        switch state {
        case .paused: .hold
        case _ where answered < generation: .resend
        case .ok, .refreshing, .trial: pause(reason)
        }
    }

    /// An answer proved that the credentials are accepted.
    package mutating func proved(generation answered: Generation) {
        if state == .trial, answered == generation { state = .ok }
    }

    /// New credentials are here; in a healthy state too, when they were renewed by age.
    package mutating func renewed() {
        generation += 1
        if state == .refreshing { state = .trial }
    }

    /// New credentials cannot be made: the reason that asked for them stands.
    package mutating func notRenewed(reason: String) -> Action {
        if case .paused = state { return .hold }
        return pause(reason)
    }

    /// An operator resumed the app, with the same or with new credentials.
    package mutating func resumed() {
        generation += 1
        state = .ok
    }

    private mutating func pause(_ reason: String) -> Action {
        state = .paused(reason: reason)
        return .pause(reason: reason)
    }
}
