/// When a key's provider token is renewed: by age, or when the gateway refuses it; never twice in 20 minutes.
///
/// The first token does not count as a renewal: a gateway that refuses it at once gets one other, and then no more. A token
/// that was refused is never used again.
/// Times are seconds since 1970, as in the token itself, because hosts that share a token share no other
/// clock.
/// - Source: Apple, "Establishing a token-based connection to APNs", "Refresh your token regularly".
package struct ProviderTokenAge: Hashable, Sendable {
    package enum Decision: Hashable, Sendable {
        /// Go on with the present token.
        case keep
        /// Make a new one and report it with ``minted(at:)``.
        case mint
        /// The gateway refused the token, and the last renewal is too recent for another one: the clock, the
        /// key or the team is wrong. Pause, and say so.
        case wrong
    }

    /// How far the clocks of hosts that share a token may be apart, in seconds.
    package static let clockTolerance: Int64 = 300

    /// Older tokens are made again.
    package let refreshAge: Int64
    /// No renewal before the last one is this long ago.
    package let leastAge: Int64

    /// `iat` of the present token; nil: there is none.
    package private(set) var issuedAt: Int64?
    /// When a token last took another one's place.
    package private(set) var renewedAt: Int64?
    /// `iat` of the newest token that the gateway refused; older ones are as useless.
    private var refusedAt: Int64?

    package init(refreshAge: Int64 = 50 * 60, leastAge: Int64 = 20 * 60) {
        self.refreshAge = refreshAge
        self.leastAge = leastAge
    }

    /// What a token that is made now bears as its `iat`: later than every one that was refused.
    package func issueTime(now: Int64) -> Int64 { refusedAt.map { max(now, $0 &+ 1) } ?? now }

    /// A token was made here.
    package mutating func minted(at issuedAt: Int64) {
        if self.issuedAt != nil || refusedAt != nil { renewedAt = issuedAt }
        self.issuedAt = issuedAt
    }

    /// Another host has shared a token of that time.
    ///
    /// - Parameter renewed: when a token last took another one's place there.
    /// - Returns: whether it is to be used: it is newer than the present one and than what was refused, and
    ///   its time has come.
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

    /// The gateway refused the token of that time, and with it all older ones.
    package mutating func refuse(tokenOf issuedAt: Int64, now: Int64) {
        // Of another host's token: its clock was wrong, and no token could follow.
        guard issuedAt == self.issuedAt || issuedAt <= now + Self.clockTolerance else { return }
        refusedAt = max(refusedAt ?? .min, issuedAt)
    }

    /// The gateway has refused a token of these credentials.
    package var hasRefusal: Bool { refusedAt != nil }

    /// Whether the present token may be used. One from the future was made before the clock was set back.
    package func decide(now: Int64) -> Decision {
        if let refusedAt, issuedAt ?? .min <= refusedAt {
            return renewalIn(now: now) == 0 ? .mint : .wrong
        }
        guard let issuedAt else { return .mint }
        let age = now - issuedAt
        return age >= refreshAge || age < -Self.clockTolerance ? .mint : .keep
    }

    /// Seconds until another token may take the place of one that was refused.
    package func renewalIn(now: Int64) -> Int64 {
        guard let renewedAt else { return 0 }
        return max(0, leastAge - (now - renewedAt))
    }
}
