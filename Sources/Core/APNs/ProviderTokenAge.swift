/// Decides when a key's provider token is renewed: at a certain age or after a refusal, but at most once in 20 minutes.
///
/// The first token does not count as a renewal. If the gateway refuses the first token, one more token is made without delay. A
/// refused token is never used again.
/// Times are seconds since 1970, as in the token itself, because hosts that share a token share no other
/// clock.
/// - Source: Apple, "Establishing a token-based connection to APNs", "Refresh your token regularly".
package struct ProviderTokenAge: Hashable, Sendable {
    package enum Decision: Hashable, Sendable {
        /// Keep using the present token.
        case keep
        /// Make a new token and report it with ``minted(at:)``.
        case mint
        /// The gateway refused the token, and the last renewal is too recent for another renewal. The clock, the key or the team
        /// is wrong, so the app must pause with an error.
        case wrong
    }

    /// The largest accepted clock difference between hosts that share a token, in seconds.
    package static let clockTolerance: Int64 = 300

    /// The age in seconds at which a token is replaced.
    package let refreshAge: Int64
    /// The minimum time between two renewals, in seconds.
    package let leastAge: Int64

    /// The `iat` claim of the present token; nil without a token.
    package private(set) var issuedAt: Int64?
    /// When a token last replaced another token; nil before the first renewal.
    package private(set) var renewedAt: Int64?
    /// The `iat` claim of the newest refused token; nil before the first refusal. All tokens that are older than the refused
    /// token count as refused too.
    private var refusedAt: Int64?

    package init(refreshAge: Int64 = 50 * 60, leastAge: Int64 = 20 * 60) {
        self.refreshAge = refreshAge
        self.leastAge = leastAge
    }

    /// Returns the `iat` claim for a new token. The claim is later than the `iat` claim of every refused token.
    package func issueTime(now: Int64) -> Int64 { refusedAt.map { max(now, $0 &+ 1) } ?? now }

    /// Notes that this host made a token.
    package mutating func minted(at issuedAt: Int64) {
        if self.issuedAt != nil || refusedAt != nil { renewedAt = issuedAt }
        self.issuedAt = issuedAt
    }

    /// Considers a token that another host made and shared.
    ///
    /// - Parameter renewed: when a token last replaced another token on the other host.
    /// - Returns: true if the offered token becomes the present token. The offered token must be newer than the present token and
    ///   all refused tokens, younger than ``refreshAge``, and its `iat` claim must not be in the future.
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

    /// Decides whether the present token may be used. A token whose `iat` claim is in the future is replaced, because the token
    /// was made before the clock was set back.
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
