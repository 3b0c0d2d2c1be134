/// Decides when the provider token of a key is renewed: when it has a certain age, or when the gateway has refused it,
/// but at most once in 20 minutes.
///
/// The first token does not count as a renewal, so if the gateway refuses it, a second token is made at once. A refused
/// token is never used again. Times are seconds since 1970, as in the token itself, so that hosts can compare the times
/// of a token that they share.
/// - Source: Apple, "Establishing a token-based connection to APNs", "Refresh your token regularly".
package struct ProviderTokenAge: Hashable, Sendable {
    package enum Decision: Hashable, Sendable {
        /// Keep using the present token.
        case keep
        /// Make a new token and report it with ``minted(at:)``.
        case mint
        /// The gateway refused the token soon after the last renewal, so the token cannot be renewed yet, and probably
        /// the clock, the key or the team is wrong. The app must be paused.
        case wrong
    }

    /// How many seconds the clocks of hosts that share a token may differ.
    package static let clockTolerance: Int64 = 300

    /// The age in seconds at which a token is replaced.
    package let refreshAge: Int64
    /// The minimum time between two renewals, in seconds.
    package let leastAge: Int64

    /// The `iat` claim of the present token; nil without a token.
    package private(set) var issuedAt: Int64?
    /// When a token last replaced another token; nil before the first renewal.
    package private(set) var renewedAt: Int64?
    /// The `iat` claim of the newest refused token; nil before the first refusal. Tokens with the same or an earlier
    /// `iat` claim count as refused.
    private var refusedAt: Int64?

    package init(refreshAge: Int64 = 50 * 60, leastAge: Int64 = 20 * 60) {
        self.refreshAge = refreshAge
        self.leastAge = leastAge
    }

    /// Returns the `iat` claim for a new token: the present time, or a later time if this is necessary to make the
    /// token newer than every refused token.
    package func issueTime(now: Int64) -> Int64 { refusedAt.map { max(now, $0 &+ 1) } ?? now }

    /// Notes that this host made a token.
    package mutating func minted(at issuedAt: Int64) {
        if self.issuedAt != nil || refusedAt != nil { renewedAt = issuedAt }
        self.issuedAt = issuedAt
    }

    /// Considers a token that another host made and shared.
    ///
    /// - Parameter renewed: when a token last replaced an earlier token, according to the other host.
    /// - Returns: true if the other host's token becomes the present token. For this, it must be newer than the present
    ///   token and all refused tokens, younger than ``refreshAge``, and its `iat` claim must not be in the future.
    package mutating func adopt(issuedAt offered: Int64, renewedAt renewed: Int64? = nil, now: Int64) -> Bool
    {
        if let renewed, renewed <= now + Self.clockTolerance, renewed > renewedAt ?? .min {
            renewedAt = renewed
        }
        guard offered > max(issuedAt ?? .min, refusedAt ?? .min), offered <= now + Self.clockTolerance,
            now - offered < refreshAge
        else {
            return false
        }
        if issuedAt != nil { renewedAt = offered }
        issuedAt = offered
        return true
    }

    /// Notes that the gateway refused a token; all older tokens count as refused too.
    package mutating func refuse(tokenOf issuedAt: Int64, now: Int64) {
        // A refused token whose `iat` claim is in the future came from a host with a wrong clock. The refusal is ignored,
        // because otherwise all tokens with an earlier `iat` claim would count as refused, including new tokens of this host.
        guard issuedAt == self.issuedAt || issuedAt <= now + Self.clockTolerance else { return }
        refusedAt = max(refusedAt ?? .min, issuedAt)
    }

    /// Whether the gateway has refused a token of these credentials.
    package var hasRefusal: Bool { refusedAt != nil }

    /// Decides whether the present token may be used. A token whose `iat` claim is in the future is replaced: the clock
    /// was set back after the token was made.
    package func decide(now: Int64) -> Decision {
        if let refusedAt, issuedAt ?? .min <= refusedAt {
            return renewalIn(now: now) == 0 ? .mint : .wrong
        }
        guard let issuedAt else { return .mint }
        let age = now - issuedAt
        return age >= refreshAge || age < -Self.clockTolerance ? .mint : .keep
    }

    /// Returns the seconds until a new token may replace a refused token.
    package func renewalIn(now: Int64) -> Int64 {
        guard let renewedAt else { return 0 }
        return max(0, leastAge - (now - renewedAt))
    }
}
