import APNs
package import EventLoop
package import Logging
package import OpenSSL
package import RedisClient
package import StoreProtocol

/// The provider tokens of one key id, team and signing key for one gateway: minted here, shared with the farm's
/// other hosts, sealed. A token that the gateway refused is never sent again.
@Loop package final class ProviderTokens {
    enum Renewal {
        /// The present token is unchanged.
        case kept
        /// Another one is here.
        case renewed
        /// The gateway refused the last one, and it is too early for another.
        case refused
    }

    let owner: ProviderTokenOwner
    /// Whose refusals count: a key may be good for one environment and not for another.
    let gateway: String
    private let key: SigningKey
    private let seal: ProviderTokenSeal
    private let registry: FarmRegistry
    private let log: Logger
    private var age = ProviderTokenAge()
    private var renewing: Task<Renewal, Never>?
    /// The `iat` of a refused token that is not recorded in Redis yet.
    private var unreportedRefusal: Int64?
    /// When Redis was last asked for a refusal.
    private var askedAt: ContinuousClock.Instant?
    /// Empty when there is none that may be sent.
    private(set) var current: [UInt8] = []

    /// Another app, or another host, may hear first that the token is refused.
    private static let askingInterval = Duration.seconds(5)
    /// Longer than a token is shared.
    private static let refusalLife = Duration.seconds(2 * 3600)

    package init(
        _ key: SigningKey, keyID: String, teamID: String, gateway: String, registry: FarmRegistry, log: Logger
    ) {
        owner = ProviderTokenOwner(keyID: keyID, teamID: teamID, keyFingerprint: key.fingerprint)
        self.gateway = gateway
        self.key = key
        seal = ProviderTokenSeal(key, owner)
        self.registry = registry
        self.log = log
    }

    /// Redis's, as all times of the farm: one host's clock may be wrong.
    private var now: Int64 { registry.connection.clock.seconds }

    /// A public name of the credentials, which differs for changed ones.
    var fingerprint: String { owner.description }

    /// Seconds until a refused token may be replaced.
    var renewalIn: Int64 { age.renewalIn(now: now) }

    /// Makes sure that the present token is young enough and was not refused.
    func refresh() async -> Renewal {
        if askedAt.map({ $0 + Self.askingInterval <= .now }) ?? true { await learnRefusal() }
        guard age.decide(now: now) != .keep else { return .kept }
        return await renew()
    }

    /// As ``refresh()``, before sending resumes after a pause: another host may know of a refusal.
    func refreshAfterPause() async -> Renewal {
        await learnRefusal()
        return await refresh()
    }

    /// A token to try the credentials with: the one that the farm shares, else the first one, which is shared.
    ///
    /// - Returns: nil when the gateway has refused these credentials already; then none is minted for a mere try.
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
        guard let shared = try? await registry.providerToken(of: owner) else { return false }
        return adopt(shared)
    }

    /// The gateway refused the present token: no host sends it there again.
    package func refuse() async {
        guard let issuedAt = age.issuedAt, !current.isEmpty else { return }
        age.refuse(tokenOf: issuedAt, now: now)
        (current, unreportedRefusal) = ([], issuedAt)
        await reportRefusal()
    }

    private func reportRefusal() async {
        guard let issuedAt = unreportedRefusal else { return }
        do throws(RedisError) {
            try await registry.refuseProviderToken(
                of: owner, issuedAt: issuedAt, by: gateway, lifetime: Self.refusalLife)
            if unreportedRefusal == issuedAt { unreportedRefusal = nil }
        } catch { warn(error) }
    }

    /// Whether the gateway's reason refuses the provider token itself.
    package static func isRefusal(_ reason: String) -> Bool {
        Reason(rawValue: reason)?.refusesProviderToken == true
    }

    private func learnRefusal() async {
        await reportRefusal()
        askedAt = .now
        do throws(RedisError) {
            guard let refused = try await registry.refusedProviderToken(of: owner, by: gateway) else {
                return
            }
            age.refuse(tokenOf: refused, now: now)
        } catch { return warn(error) }
        if age.decide(now: now) != .keep { current = [] }
    }

    /// Takes the token that another host has shared if it is fresh, else mints one and shares it. Calls in the
    /// meantime get the same token.
    private func renew() async -> Renewal {
        if let renewing { return await renewing.value }
        let renewing = Loop.task { await self.renewAlone() }
        self.renewing = renewing
        defer { self.renewing = nil }
        return await renewing.value
    }

    private func renewAlone() async -> Renewal {
        var shared: [UInt8]?
        do throws(RedisError) { shared = try await registry.providerToken(of: owner) } catch { warn(error) }
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
        let token = ProviderToken.make(keyID: owner.keyID, teamID: owner.teamID, issuedAt: time) {
            key.sign($0)
        }
        var next = age
        next.minted(at: time)
        let sealed = seal.seal(.init(issuedAt: time, renewedAt: next.renewedAt, token: token))
        do throws(RedisError) {
            let reply = try await registry.swapProviderToken(
                of: owner, from: shared, to: sealed, lifetime: .seconds(3600))
            if case .stored(let other) = reply, adopt(other) { return .renewed }
        } catch { warn(error) }
        age.minted(at: time)
        current = token
        log.info("provider token minted", metadata: ["key": "\(owner.keyID)", "team": "\(owner.teamID)"])
        return .renewed
    }

    private func adopt(_ sealed: [UInt8]) -> Bool {
        guard let record = seal.open(sealed),
            age.adopt(issuedAt: record.issuedAt, renewedAt: record.renewedAt, now: now)
        else { return false }
        current = record.token
        log.info(
            "shared provider token taken over",
            metadata: ["key": "\(owner.keyID)", "team": "\(owner.teamID)"])
        return true
    }

    private func warn(_ error: RedisError) {
        log.warning("provider tokens cannot be shared", error: error, metadata: ["key": "\(owner.keyID)"])
    }
}

/// How hosts share a provider token: sealed with its signing key, and bound to key id, team and key.
package struct ProviderTokenSeal {
    package struct Record: Equatable {
        /// Seconds since 1970, as in the token.
        package let issuedAt: Int64
        /// When a token last took another one's place; nil: this is the first.
        package let renewedAt: Int64?
        package let token: [UInt8]
    }

    private let key: SealingKey
    private let owner: ProviderTokenOwner

    package init(_ key: SigningKey, _ owner: ProviderTokenOwner) {
        self.key = key.sealingKey(purpose: "pushfarm provider token")
        self.owner = owner
    }

    /// Layout inside: `iat`, a space, the time of the renewal or 0, a space, the token.
    func seal(_ record: Record) -> [UInt8] {
        key.seal(
            Array("\(record.issuedAt) \(record.renewedAt ?? 0) ".utf8) + record.token,
            associated: Array(owner.description.utf8))
    }

    /// nil when it was sealed for other credentials, or is damaged.
    package func open(_ sealed: [UInt8]) -> Record? {
        guard let plain = try? key.open(sealed, associated: Array(owner.description.utf8)) else { return nil }
        let parts = plain.split(separator: UInt8(ascii: " "), maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, !parts[2].isEmpty,
            let issuedAt = Int64(foreign: parts[0]), let renewedAt = Int64(foreign: parts[1])
        else { return nil }
        return Record(issuedAt: issuedAt, renewedAt: renewedAt > 0 ? renewedAt : nil, token: Array(parts[2]))
    }
}
