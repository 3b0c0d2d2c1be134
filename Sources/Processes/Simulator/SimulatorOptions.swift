package import OpenSSL

/// The settings of a simulated gateway at its start. ``FaultCommand`` changes faults while it runs.
package struct SimulatorOptions: Sendable {
    package enum Environment: String, Sendable, CaseIterable {
        case production, sandbox
    }

    /// Which clients may push.
    package enum Authentication: String, Sendable, CaseIterable {
        /// A provider token, or a client certificate, as with Apple.
        case required
        /// Anybody: for load generators.
        case none
    }

    /// A key whose provider tokens are accepted.
    package struct Key: Sendable {
        package var id: String
        package var team: String
        /// PEM: a `.p8`, or the public key alone.
        package var file: String
        /// Bundle ids that it may push to; nil: all that no key of another team names.
        package var topics: [String]?
        /// nil: good for both.
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

    /// Each has all the ports.
    package var hosts = ["127.0.0.1"]
    /// 0: the system chooses a port.
    package var port: UInt16 = 8443
    /// Port of the binary interface; nil: it is off.
    package var binaryPort: UInt16?
    /// Port of the feedback service; nil: it is off.
    package var feedbackPort: UInt16?
    /// Bytes of the tokens that the binary interface takes.
    package var tokenLengths = [32]
    /// False: HTTP/2 without TLS, with prior knowledge.
    package var usesTLS = true
    /// The newest version that it speaks.
    package var newestTLS = TLSVersion.tls13
    package var environment = Environment.production

    /// Holds the throw-away authority and credentials; made when absent, for the owner only.
    package var folder = "./var/simulator"
    /// Host names and addresses of the server certificate.
    package var serverNames = ["localhost", "127.0.0.1", "::1"]
    /// The bundle id of the throw-away client certificate.
    package var bundle = "com.example.demo"

    package var authentication = Authentication.required
    /// Whether clients are asked for a certificate.
    package var asksForCertificates = true
    /// Accepted besides the key in ``folder``.
    package var keys: [Key] = []
    /// By key id, the one in ``folder`` included: as in ``Key/topics``.
    package var keyTopics: [String: [String]] = [:]
    /// By key id, the one in ``folder`` included: as in ``Key/environment``.
    package var keyEnvironments: [String: Environment] = [:]
    /// Seconds that a provider token lives.
    package var tokenLifetime: Int64 = 3_600
    /// Seconds before a connection may show another provider token.
    package var tokenUpdateInterval: Int64 = 1_200

    /// Streams that a connection may have open.
    package var streams: UInt32 = 1_000
    /// One stream only until a request with a valid provider token has come.
    package var firstStreamAlone = true
    /// The limit falls to 1 after `ExpiredProviderToken`, and rises again after the next accepted push.
    package var limitDropsAfterExpiredToken = true
    /// The limit falls to 1 after a refused push, and rises again after the next accepted one.
    package var limitDropsAfterRefusal = false
    /// Pushes to one token within a second, above which it is throttled; nil: any number.
    package var pushesPerTokenAndSecond: Int?
    /// A connection without a request gets GOAWAY IdleTimeout after this time; nil: never.
    package var idleTimeout: Duration?
    /// Refusals with status 400 on one connection, after which it gets GOAWAY; nil: any number.
    package var refusalsPerConnection: Int?

    /// A file of tokens and their states, see ``TokenFile``.
    package var tokenFile: String?
    /// Lines of ``FaultCommand`` carried out at the start.
    package var faults: [String] = []
    /// The seed of everything random, but for the ids that the gateway makes.
    package var seed: UInt64 = 1
    /// The seed of the ids: another one at each start, because no gateway gives the same id twice.
    package var idSeed = UInt64.random(in: .min ... .max)

    /// Gets a JSON line for each request, appended before the answer is written.
    package var ledger: String?
    /// Warns, in the ledger and by a counter, of accepted payloads that are no JSON objects.
    package var checksPayloads = true
    /// Counts different tokens and repeated `apns-id`s: 8 bytes or more of memory for each.
    package var countsDistinct = false
    /// Where the control socket is made; nil: there is none.
    package var controlSocket: String?

    package init() {}
}

extension SimulatorOptions {
    /// The key in ``folder`` and all others, with their topics and environments.
    func allKeys(own credentials: SimulatorCredentials) throws(SimulatorError) -> [Key] {
        let own = Key(
            id: SimulatorCredentials.keyID, team: SimulatorCredentials.teamID,
            file: credentials.signingKeyFile)
        let all = [own] + keys
        for id in keyTopics.keys.sorted() + keyEnvironments.keys.sorted()
        where !all.contains(where: { $0.id == id }) {
            let known = all.map(\.id).joined(separator: ", ")
            throw .unusable("no signing key has the id \(id); known are \(known)")
        }
        return all.map { key in
            var key = key
            key.topics = keyTopics[key.id] ?? key.topics
            key.environment = keyEnvironments[key.id] ?? key.environment
            return key
        }
    }
}

/// Why the simulator cannot start, or cannot go on.
package enum SimulatorError: Error, Hashable, CustomStringConvertible {
    /// Something that the user gave, with what is wrong about it.
    case unusable(String)
    /// A file or a socket, and the system's reason.
    case system(String)

    package var description: String {
        switch self {
        case .unusable(let text), .system(let text): text
        }
    }
}
