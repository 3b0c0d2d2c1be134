import APNs
import EventLoop
import FarmStore
import Logging
import TLS

/// The provider token of one signing key: minted here, shared with the farm's other hosts, sealed.
@Loop final class ProviderTokens {
    let keyID: String
    let teamID: String
    private let key: SigningKey
    private let sealing: SealingKey
    private let registry: FarmRegistry
    private let log: Logger
    private var age = ProviderTokenAge()
    private(set) var current: [UInt8] = []

    init(keyID: String, teamID: String, key: SigningKey, registry: FarmRegistry, log: Logger) {
        self.keyID = keyID
        self.teamID = teamID
        self.key = key
        sealing = key.sealingKey(purpose: "pushfarm provider token")
        self.registry = registry
        self.log = log
    }

    /// Redis's, as all times of the farm: one host's clock may be wrong.
    private var now: Int64 { registry.connection.clock.seconds }

    /// A public name of the key, by which a changed one is told from the same one.
    var fingerprint: String { "\(keyID) \(teamID) \(key.fingerprint)" }

    /// Makes sure that the present token is young enough.
    ///
    /// - Returns: whether it is another one than before.
    func refresh() async -> Bool {
        guard age.decide(now: now) == .mint else { return false }
        return await mint()
    }

    /// The gateway found the present token expired.
    ///
    /// - Returns: whether there is a new one now; else Redis's clock is wrong, or the key is.
    func renewExpired() async -> Bool {
        guard let issuedAt = age.issuedAt else { return await mint() }
        switch age.expired(tokenOf: issuedAt, now: now) {
        case .keep: return true
        case .wrong: return false
        case .mint: return await mint(newerThan: issuedAt)
        }
    }

    /// Takes the token that another host has shared if it is fresh, else mints one and shares it.
    private func mint(newerThan refused: Int64 = .min) async -> Bool {
        var shared: [UInt8]?
        do throws(RedisError) { shared = try await registry.providerToken(keyID: keyID) } catch {
            log.warning(
                "provider tokens cannot be shared", metadata: ["key": "\(keyID)", "error": "\(error)"])
        }
        if let shared, adopt(shared, newerThan: refused) { return true }
        let time = now
        let token = ProviderToken.make(keyID: keyID, teamID: teamID, issuedAt: time) { key.sign($0) }
        let sealed = sealing.seal(Array("\(time) ".utf8) + token, associated: Array(keyID.utf8))
        do throws(RedisError) {
            let reply = try await registry.swapProviderToken(
                keyID: keyID, from: shared, to: sealed, lifetime: .seconds(3600))
            if case .stored(let other) = reply, adopt(other, newerThan: refused) { return true }
        } catch {
            log.warning(
                "provider tokens cannot be shared", metadata: ["key": "\(keyID)", "error": "\(error)"])
        }
        age.minted(at: time)
        current = token
        log.info("provider token minted", metadata: ["key": "\(keyID)"])
        return true
    }

    private func adopt(_ sealed: [UInt8], newerThan refused: Int64) -> Bool {
        // Sealed by another key of that id: not ours to read, and soon replaced by ours.
        guard let plain = try? sealing.open(sealed, associated: Array(keyID.utf8)),
            let space = plain.firstIndex(of: UInt8(ascii: " ")),
            let issuedAt = Int64(foreign: String(decoding: plain[..<space], as: UTF8.self)),
            issuedAt > refused,
            age.adopt(issuedAt: issuedAt, now: now)
        else { return false }
        current = Array(plain[(space + 1)...])
        return true
    }
}
