import APNs

/// What one connection of a gateway makes of the provider tokens that it is shown.
///
/// The first accepted token binds the connection to its team and key; a token lives for an hour, and another
/// may follow no sooner than 20 minutes after the one before. Times are seconds since 1970. The signature is
/// the caller's to check.
/// - Source: Apple, "Establishing a token-based connection to APNs". Reasons for another team and for times
///   in the future are ours.
struct ProviderTokenRules: Hashable, Sendable {
    let lifetime: Int64
    let updateInterval: Int64
    private var accepted: ProviderTokenParts?
    private var acceptedAt: Int64 = 0

    init(lifetime: Int64 = 3600, updateInterval: Int64 = 20 * 60) {
        self.lifetime = lifetime
        self.updateInterval = updateInterval
    }

    /// Judges a token whose bytes are not those of the one that was accepted last.
    ///
    /// - Parameter isSigned: whether the key is known, belongs to the team and has made the signature.
    /// - Returns: why it is refused; nil if it is accepted, and now is the connection's token.
    mutating func refusal(of token: ProviderTokenParts, isSigned: Bool, now: Int64) -> Reason? {
        guard isSigned, token.issuedAt - now <= lifetime else { return .invalidProviderToken }
        guard now - token.issuedAt <= lifetime else { return .expiredProviderToken }
        if let accepted {
            guard token.teamID == accepted.teamID else { return .invalidProviderToken }
            guard token.keyID == accepted.keyID else { return .unrelatedKeyIDInToken }
            guard now - acceptedAt >= updateInterval || token == accepted else {
                return .tooManyProviderTokenUpdates
            }
        }
        if token != accepted {
            accepted = token
            acceptedAt = now
        }
        return nil
    }

    /// Judges the token that was accepted last, when it comes again.
    func refusalOfRepeated(now: Int64) -> Reason? {
        guard let accepted else { preconditionFailure("no provider token was accepted before") }
        return now - accepted.issuedAt <= lifetime ? nil : .expiredProviderToken
    }
}
