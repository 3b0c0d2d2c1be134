import APNs
package import EventLoop
package import Logging
package import OpenSSL
package import RedisClient
package import StoreProtocol

/// The provider tokens of one key id, team and signing key for one gateway. The hosts of the farm share the tokens
/// through Redis in sealed form. A token that the gateway has refused is never sent to it again.
@Loop package final class ProviderTokens {
    enum Renewal {
        /// The current token is unchanged.
        case kept
        /// The current token is new.
        case renewed
        /// The gateway refused the last token, and it is too early to mint another token.
        case refused
    }

    let identity: ProviderTokenIdentity
    /// The gateway that gets the tokens. Refusals are recorded for each gateway, because a key may be valid in one
    /// environment and invalid in another environment.
    let gateway: String
    private let key: SigningKey
    private let seal: ProviderTokenSeal
    private let farmRedis: FarmRedis
    private let log: Logger
    private var age = ProviderTokenAge()
    private var renewing: Task<Renewal, Never>?
    /// The `iat` of a token whose refusal this process has not recorded in Redis yet; nil if all refusals are recorded.
    private var unreportedRefusal: Int64?
    /// When this process last read refusals from Redis.
    private var askedAt: ContinuousClock.Instant?
    /// The current token; empty if no token may be sent.
    private(set) var current: [UInt8] = []

    /// How often this process reads from Redis which tokens were refused, because another host or another app of this
    /// host may have recorded a refusal.
    private static let askingInterval = Duration.seconds(5)
    /// How long Redis keeps a refusal: longer than the hour for which it keeps a shared token. So a host that reads an
    /// old shared token also reads its refusal.
    private static let refusalLife = Duration.seconds(2 * 3600)

    package init(
        _ key: SigningKey, keyID: String, teamID: String, gateway: String, farmRedis: FarmRedis, log: Logger
    ) {
        identity = ProviderTokenIdentity(keyID: keyID, teamID: teamID, keyFingerprint: key.fingerprint)
        self.gateway = gateway
        self.key = key
        seal = ProviderTokenSeal(key, identity)
        self.farmRedis = farmRedis
        self.log = log
    }

    /// Redis's time in seconds, because the clock of this host may be wrong.
    private var now: Int64 { farmRedis.connection.clock.seconds }

    /// Identifies the credentials without revealing them. Different credentials have different fingerprints.
    var fingerprint: String { identity.description }

    /// Seconds until a refused token may be replaced.
    var renewalIn: Int64 { age.renewalIn(now: now) }

    /// Replaces the current token if it is too old or was refused.
    func refresh() async -> Renewal {
        if askedAt.map({ $0 + Self.askingInterval <= .now }) ?? true { await learnRefusal() }
        guard age.decide(now: now) != .keep else { return .kept }
        return await renew()
    }

    /// Reads refusals from Redis, then refreshes the token. Call this function to resume the app after a pause.
    func refreshAfterPause() async -> Renewal {
        await learnRefusal()
        return await refresh()
    }

    /// A token with which the credentials can be tested: the token that the hosts share. If the hosts share no token,
    /// this function mints a token and shares it.
    ///
    /// - Returns: nil if the gateway has already refused a token of these credentials and the hosts share no other
    ///   token. In this case, no token is minted for the test.
    package func tokenForTrial() async -> [UInt8]? {
        await learnRefusal()
        return switch age.decide(now: now) {
        case .keep: current
        case .mint where !age.hasRefusal, .wrong where !age.hasRefusal:
            await renew() == .refused ? nil : current
        case .mint, .wrong: await adoptShared() ? current : nil
        }
    }

    private func adoptShared() async -> Bool {
        // If Redis does not reply, this call finds no shared token. The next refresh reads Redis again.
        guard let shared = try? await farmRedis.providerToken(of: identity) else { return false }
        return adopt(shared)
    }

    /// Records that the gateway refused the current token. No host sends the token to this gateway again.
    package func refuse() async {
        guard let issuedAt = age.issuedAt, !current.isEmpty else { return }
        age.refuse(tokenOf: issuedAt, now: now)
        (current, unreportedRefusal) = ([], issuedAt)
        await reportRefusal()
    }

    private func reportRefusal() async {
        guard let issuedAt = unreportedRefusal else { return }
        do throws(RedisError) {
            try await farmRedis.refuseProviderToken(
                of: identity, issuedAt: issuedAt, by: gateway, lifetime: Self.refusalLife)
            if unreportedRefusal == issuedAt { unreportedRefusal = nil }
        } catch { warn(error) }
    }

    /// Whether a gateway that responds with this reason refuses the provider token.
    package static func isRefusal(_ reason: String) -> Bool {
        Reason(rawValue: reason)?.refusesProviderToken == true
    }

    private func learnRefusal() async {
        await reportRefusal()
        askedAt = .now
        do throws(RedisError) {
            guard let refused = try await farmRedis.refusedProviderToken(of: identity, by: gateway) else {
                return
            }
            age.refuse(tokenOf: refused, now: now)
        } catch { return warn(error) }
        if age.decide(now: now) != .keep { current = [] }
    }

    /// Uses the token that another host has shared, if it is fresh; otherwise mints a token and shares it. A second
    /// call during a renewal waits for the same renewal, and returns its result.
    private func renew() async -> Renewal {
        if let renewing { return await renewing.value }
        let renewing = Loop.task { await self.renewAlone() }
        self.renewing = renewing
        defer { self.renewing = nil }
        return await renewing.value
    }

    private func renewAlone() async -> Renewal {
        var shared: [UInt8]?
        do throws(RedisError) { shared = try await farmRedis.providerToken(of: identity) } catch {
            warn(error)
        }
        await learnRefusal()
        if let shared, adopt(shared) { return .renewed }
        switch age.decide(now: now) {
        case .keep: return .kept
        case .wrong: return .refused
        case .mint: return await mint(inPlaceOf: shared)
        }
    }

    private func mint(inPlaceOf shared: [UInt8]?) async -> Renewal {
        let time = age.issueTime(now: now)
        let token = ProviderToken.make(keyID: identity.keyID, teamID: identity.teamID, issuedAt: time) {
            key.sign($0)
        }
        var next = age
        next.minted(at: time)
        let sealed = seal.seal(.init(issuedAt: time, renewedAt: next.renewedAt, token: token))
        do throws(RedisError) {
            let reply = try await farmRedis.swapProviderToken(
                of: identity, from: shared, to: sealed, lifetime: .seconds(3600))
            if case .stored(let other) = reply, adopt(other) { return .renewed }
        } catch { warn(error) }
        age.minted(at: time)
        current = token
        log.info(
            "provider token created", metadata: ["key": "\(identity.keyID)", "team": "\(identity.teamID)"])
        return .renewed
    }

    private func adopt(_ sealed: [UInt8]) -> Bool {
        guard let record = seal.open(sealed),
            age.adopt(issuedAt: record.issuedAt, renewedAt: record.renewedAt, now: now)
        else { return false }
        current = record.token
        log.info(
            "using another host's provider token",
            metadata: ["key": "\(identity.keyID)", "team": "\(identity.teamID)"])
        return true
    }

    private func warn(_ error: RedisError) {
        log.warning(
            "cannot share provider tokens with other hosts through Redis", error: error,
            metadata: ["key": "\(identity.keyID)"])
    }
}

/// Encrypts the provider token that hosts share, with a key that is derived from the token's signing key. Only a host
/// with the same signing key, key id and team can decrypt the token.
package struct ProviderTokenSeal {
    package struct Record: Equatable {
        /// When the token was issued, in seconds since 1970.
        package let issuedAt: Int64
        /// When a token of these credentials last replaced an earlier token; nil if there was no earlier token.
        package let renewedAt: Int64?
        package let token: [UInt8]
    }

    private let key: SealingKey
    private let identity: ProviderTokenIdentity

    package init(_ key: SigningKey, _ identity: ProviderTokenIdentity) {
        self.key = key.sealingKey(purpose: "pushfarm provider token")
        self.identity = identity
    }

    /// Seals a record as text: `issuedAt`, a space, `renewedAt` or 0, a space, the token.
    func seal(_ record: Record) -> [UInt8] {
        key.seal(
            Array("\(record.issuedAt) \(record.renewedAt ?? 0) ".utf8) + record.token,
            associated: Array(identity.description.utf8))
    }

    /// Opens a sealed record; nil if the record was sealed for other credentials or is damaged.
    package func open(_ sealed: [UInt8]) -> Record? {
        guard let plain = try? key.open(sealed, associated: Array(identity.description.utf8)) else {
            return nil
        }
        let parts = plain.split(separator: UInt8(ascii: " "), maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, !parts[2].isEmpty,
            let issuedAt = Int64(foreign: parts[0]), let renewedAt = Int64(foreign: parts[1])
        else { return nil }
        return Record(issuedAt: issuedAt, renewedAt: renewedAt > 0 ? renewedAt : nil, token: Array(parts[2]))
    }
}
