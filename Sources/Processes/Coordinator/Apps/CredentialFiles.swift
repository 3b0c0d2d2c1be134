import EventLoop
import FarmConfiguration
import Logging
import RedisClient
import Supervision

/// An app's credentials as last read from their files, with the provider tokens that the key signs.
@Loop final class CredentialFiles {
    private(set) var configuration: AppConfiguration
    private(set) var loaded: LoadedCredentials?
    /// The trusted CA in PEM, read together with the credentials; empty means the system's CAs.
    private(set) var trustedCA: [UInt8] = []
    private(set) var providerTokens: ProviderTokens?
    /// Why the files cannot be used now; nil if the files can be used. If they cannot be used, the credentials that
    /// were loaded before stay in use.
    private(set) var problem: String?
    private var stamps: FileStamps
    private let farmRedis: FarmRedis
    private let log: Logger

    init(_ configuration: AppConfiguration, farmRedis: FarmRedis, log: Logger) {
        (self.configuration, self.farmRedis, self.log) = (configuration, farmRedis, log)
        stamps = FileStamps(configuration.files)
    }

    /// A text that identifies the credentials and contains no secret; nil if no credentials could be read.
    var fingerprint: String? { loaded?.fingerprint }

    /// The current provider token; nil if no token may be sent.
    var token: [UInt8]? { providerTokens.flatMap { $0.current.isEmpty ? nil : $0.current } }

    /// When the certificate expires, in Unix seconds; nil for a signing key.
    var expiresAt: Int64? {
        if case .certificate(let identity) = loaded { identity.certificate.notAfter } else { nil }
    }

    /// Applies a changed configuration. Call ``load()`` afterwards to read the files.
    func apply(_ configuration: AppConfiguration) {
        self.configuration = configuration
        stamps = FileStamps(configuration.files)
    }

    /// Whether the files have changed since the last call of this function or of ``apply(_:)``.
    func haveChanged() -> Bool {
        let now = FileStamps(configuration.files)
        guard now != stamps else { return false }
        stamps = now
        return true
    }

    func load() {
        do {
            let credentials = try LoadedCredentials.load(configuration)
            let trustedCA = try LoadedCredentials.trustedCA(of: configuration)
            problem = nil
            for file in configuration.credentialFiles where FileTrust.isPublic(file) {
                log.warning("every user of this machine can read a key file", metadata: ["file": "\(file)"])
            }
            (loaded, self.trustedCA) = (credentials, trustedCA)
            guard case .key(let key, let id, let team) = credentials else {
                providerTokens = nil
                return
            }
            let gateway = configuration.gatewayEnvironment
            if providerTokens?.fingerprint != credentials.fingerprint || providerTokens?.gateway != gateway {
                providerTokens = ProviderTokens(
                    key, keyID: id, teamID: team, gateway: gateway, farmRedis: farmRedis, log: log)
            }
        } catch {
            problem = "\(error)"
            log.error("cannot use the credentials", metadata: ["reason": "\(error)"])
        }
    }

    func refreshToken() async -> ProviderTokens.Renewal { await providerTokens?.refresh() ?? .kept }

    /// Stops using the current provider token if the gateway's reason says that the token is invalid.
    func refuseToken(_ reason: String) async {
        guard let providerTokens, ProviderTokens.isRefusal(reason) else { return }
        await providerTokens.refuse()
    }
}
