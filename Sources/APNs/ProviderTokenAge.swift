/// When a key's provider token is renewed: by age, or when the gateway finds it expired; never twice in 20
/// minutes.
///
/// The first token is no renewal: a gateway that finds it expired at once gets one other, and then no more.
/// Times are seconds since 1970, as in the token itself, because hosts that share a token share no other
/// clock.
/// - Source: Apple, "Establishing a token-based connection to APNs", "Refresh your token regularly".
package struct ProviderTokenAge: Hashable, Sendable {
    package enum Decision: Hashable, Sendable {
        /// Go on with the present token.
        case keep
        /// Make a new one and report it with ``minted(at:)``.
        case mint
        /// The gateway refuses even a young token: this host's clock is wrong, or the key is. Pause, and say
        /// so.
        case wrong
    }

    /// How far the clocks of hosts that share a token may be apart, in seconds.
    package static let clockTolerance: Int64 = 300

    /// Older tokens are made anew.
    package let refreshAge: Int64
    /// No renewal before the last one is this long ago.
    package let leastAge: Int64

    /// `iat` of the present token; nil: there is none.
    package private(set) var issuedAt: Int64?
    /// When a token last took another one's place.
    private var renewedAt: Int64?

    package init(refreshAge: Int64 = 50 * 60, leastAge: Int64 = 20 * 60) {
        self.refreshAge = refreshAge
        self.leastAge = leastAge
    }

    /// A token was made here.
    package mutating func minted(at issuedAt: Int64) {
        if self.issuedAt != nil { renewedAt = issuedAt }
        self.issuedAt = issuedAt
    }

    /// Another host has shared a token of that time.
    ///
    /// - Returns: whether it is to be used: it is newer than the present one, and its time has come.
    package mutating func adopt(issuedAt offered: Int64, now: Int64) -> Bool {
        guard offered > issuedAt ?? .min, offered <= now + Self.clockTolerance, now - offered < refreshAge
        else {
            return false
        }
        if issuedAt != nil { renewedAt = offered }
        issuedAt = offered
        return true
    }

    /// Whether the present token may be used. One from the future was made before the clock was set back.
    package func decide(now: Int64) -> Decision {
        guard let issuedAt else { return .mint }
        let age = now - issuedAt
        return age >= refreshAge || age < -Self.clockTolerance ? .mint : .keep
    }

    /// The gateway answered ExpiredProviderToken to the token of that time.
    package func expired(tokenOf refused: Int64, now: Int64) -> Decision {
        guard let issuedAt else { return .mint }
        guard refused >= issuedAt else { return .keep }
        guard let renewedAt else { return .mint }
        return now - renewedAt >= leastAge ? .mint : .wrong
    }

    /// Forgets the present token: the clock or the key was put right.
    package mutating func reset() { (issuedAt, renewedAt) = (nil, nil) }

    /// When ``decide(now:)`` will next ask for a new token.
    package var nextRefresh: Int64? { issuedAt.map { $0 + refreshAge } }
}
