package import DeviceSimulation
package import OpenSSL

/// The start settings of a simulated gateway. ``FaultCommand`` changes faults while the gateway runs.
package struct SimulatorOptions: Sendable {
    package enum Environment: String, Sendable, CaseIterable {
        case production, sandbox
    }

    /// The credentials that a client needs to push.
    package enum Authentication: String, Sendable, CaseIterable {
        /// A client needs a provider token or a client certificate, as with Apple's gateways.
        case required
        /// A client needs no credentials; for load generators.
        case none
    }

    /// A signing key. The gateway accepts provider tokens that are signed with this key.
    package struct Key: Sendable {
        package var id: String
        package var team: String
        /// The path of a PEM file: a `.p8` file, or a file with only the public key.
        package var file: String
        /// The bundle ids that the key may push to; nil means all bundle ids except the bundle ids of other teams' keys.
        package var topics: [String]?
        /// The environment in which the key is valid; nil means both environments.
        package var environment: Environment?

        package init(
            id: String, team: String, file: String, topics: [String]? = nil, environment: Environment? = nil
        ) {
            self.id = id
            self.team = team
            self.file = file
            self.topics = topics
            self.environment = environment
        }
    }

    /// The addresses to listen on. All addresses use the same ports.
    package var hosts = ["127.0.0.1"]
    /// The port of the HTTP/2 interface; 0 means that the system chooses a port.
    package var port: UInt16 = 8443
    /// The port of the binary interface; nil means that the interface is off.
    package var binaryPort: UInt16?
    /// The port of the feedback service; nil means that the service is off.
    package var feedbackPort: UInt16?
    /// The token lengths in bytes that the binary interface accepts.
    package var tokenLengths = [32]
    /// Whether the gateway uses TLS. Without TLS, clients use HTTP/2 with prior knowledge.
    package var usesTLS = true
    /// The newest TLS version that the gateway supports.
    package var newestTLS = TLSVersion.tls13
    package var environment = Environment.production

    /// The folder of the throw-away authority and credentials. Missing files are created, readable by the owner only.
    package var folder = "./var/simulator"
    /// The host names and addresses in the server certificate.
    package var serverNames = ["localhost", "127.0.0.1", "::1"]
    /// The bundle id in the throw-away client certificate.
    package var bundle = "com.example.demo"

    package var authentication = Authentication.required
    /// Whether the gateway asks clients for a certificate.
    package var asksForCertificates = true
    /// Further accepted keys besides the key in ``folder``.
    package var keys: [Key] = []
    /// The topics of keys by key id, which replace ``Key/topics``. The dictionary may also contain the key in ``folder``.
    package var keyTopics: [String: [String]] = [:]
    /// The environments of keys by key id, which replace ``Key/environment``. The dictionary may also contain the key in
    /// ``folder``.
    package var keyEnvironments: [String: Environment] = [:]
    /// The lifetime of a provider token in seconds.
    package var tokenLifetime: Int64 = 3_600
    /// The minimum time between two changes of a connection's provider token, in seconds.
    package var tokenUpdateInterval: Int64 = 1_200

    /// The maximum number of open streams on a connection.
    package var streams: UInt32 = 1_000
    /// Whether a connection gets only one stream until a request with a valid provider token has arrived.
    package var firstStreamAlone = true
    /// Whether a refusal with `ExpiredProviderToken` lowers the limit of streams to 1. The next accepted push raises the limit
    /// again.
    package var limitDropsAfterExpiredToken = true
    /// Whether a refused push lowers the limit of streams to 1. The next accepted push raises the limit again.
    package var limitDropsAfterRefusal = false
    /// The maximum number of pushes per second to one token; the gateway throttles further pushes. nil means no limit.
    package var pushesPerTokenAndSecond: Int?
    /// After this time without a request, a connection gets GOAWAY with the reason `IdleTimeout`; nil means no such limit.
    package var idleTimeout: Duration?
    /// After this number of refusals with status 400, a connection gets GOAWAY; nil means no such limit.
    package var refusalsPerConnection: Int?

    /// A file of tokens and their states; see ``TokenFile``.
    package var tokenFile: String?
    /// Lines of ``FaultCommand`` that are executed at the start.
    package var faults: [String] = []
    /// The seed of all random decisions except the ids that the gateway creates.
    package var seed: UInt64 = 1
    /// The seed of the ids that the gateway creates. The default is random, so that a restarted gateway does not create the ids
    /// of its last run again.
    package var idSeed = UInt64.random(in: .min ... .max)

    /// A file that gets one JSON line for each request. The line is appended before the response is written.
    package var ledger: String?
    /// The devices that receive accepted pushes; nil means that the gateway simulates no devices.
    package var devices: DevicePopulation?
    /// A file that gets one JSON line for each device that is done; `-` means the standard output, and nil means no file.
    package var doneFile: String?
    /// Whether the ledger and a counter warn about accepted payloads that are not JSON objects.
    package var checksPayloads = true
    /// Whether the gateway counts the distinct tokens and the repeated `apns-id`s. Each token or id needs at least 8 bytes of
    /// memory.
    package var countsDistinct = false
    /// The path of the control socket; nil means no control socket.
    package var controlSocket: String?

    package init() {}
}

extension SimulatorOptions {
    /// The key in ``folder`` and all other keys, with their topics and environments.
    func allKeys(own credentials: SimulatorCredentials) throws(SimulatorError) -> [Key] {
        let own = Key(
            id: SimulatorCredentials.keyID, team: SimulatorCredentials.teamID,
            file: credentials.signingKeyFile)
        let all = [own] + keys
        for id in keyTopics.keys.sorted() + keyEnvironments.keys.sorted()
        where !all.contains(where: { $0.id == id }) {
            let known = all.map(\.id).joined(separator: ", ")
            throw .unusable("no signing key has the id \(id); the known ids are \(known)")
        }
        return all.map { key in
            var key = key
            key.topics = keyTopics[key.id] ?? key.topics
            key.environment = keyEnvironments[key.id] ?? key.environment
            return key
        }
    }
}

/// Why the simulator cannot start or cannot continue.
package enum SimulatorError: Error, Hashable, CustomStringConvertible {
    /// An invalid setting from the user, with the reason.
    case unusable(String)
    /// An error of a file or a socket, with the system's reason.
    case system(String)

    package var description: String {
        switch self {
        case .unusable(let text), .system(let text): text
        }
    }
}
