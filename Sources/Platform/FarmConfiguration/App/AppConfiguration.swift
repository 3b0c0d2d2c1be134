/// The configuration of one app: topic, gateway, credentials and limits.
package struct AppConfiguration: Sendable, Equatable {
    package enum Environment: String, Sendable, CaseIterable {
        case production, sandbox
    }

    package enum Credentials: Sendable, Equatable {
        /// Provider tokens signed with a .p8 key; `file` is absolute.
        case key(file: String, id: String, team: String)
        /// A TLS client certificate: .p12 (`keyFile` nil), or .pem with its key beside it or in the same file.
        case certificate(file: String, keyFile: String?, password: Password?)
    }

    /// Limits of the suppression list.
    package struct Suppression: Sendable, Equatable {
        package var days = 30
        /// Approximate maximum; the oldest entries are removed first.
        package var tokens = 1_000_000
        /// Percent of invalid tokens among the last thousand responses above which suppressions wait for confirmation.
        package var holdShare = 20
        /// Percent above which the app is paused.
        package var pauseShare = 95
    }

    /// Limits of the dead letters; the oldest are removed first.
    package struct DeadLetters: Sendable, Equatable {
        package var days = 14
        package var pushes = 1_000_000
        /// In units of 1,048,576 bytes, with payloads.
        package var megabytes = 256
    }

    /// Limits of the records of single pushes, for `pushfarm find`.
    package struct Audit: Sendable, Equatable {
        package var hours = 24
        /// In units of 1,048,576 bytes in Redis; 0: no records.
        package var megabytes = 0

        package var isOn: Bool { megabytes > 0 }
    }

    /// The topics that a job may choose besides the app's own.
    package enum Topics: Sendable, Equatable {
        case any
        case these([String])

        /// Nil: any.
        package var listed: [String]? {
            if case .these(let topics) = self { topics } else { nil }
        }
    }

    package let name: String
    /// The default `apns-topic` of the app's jobs.
    package var topic: String
    package var topics: Topics = .these([])
    package var environment: Environment = .production
    package var gateway: HostPort
    /// nil: the gateway uses HTTP/2.
    package var binary: BinaryGateway?
    /// The HTTP CONNECT proxy in front of the gateway.
    package var proxy: ProxyAddress?
    /// Trust these instead of the system's roots.
    package var caFile: String?
    /// Timeout of a gateway's response.
    package var requestTimeout: Duration = .seconds(20)
    /// Upper limit of a gateway's Retry-After.
    package var maxRetryAfter: Duration = .seconds(600)
    package var maxJobBytes = 64 << 20
    /// Most pushes of one job.
    package var maxTokens = 100_000
    /// Most open pushes and jobs in the inbox, together.
    package var maxBacklog = 10_000_000
    /// Most jobs in the inbox.
    package var maxInbox = 1_000_000
    /// Most bytes in the inbox; nil: a quarter of Redis's memory limit.
    package var maxInboxBytes: Int?
    package var suppression = Suppression()
    package var deadLetters = DeadLetters()
    package var audit = Audit()
    /// The app's share of a worker's time, relative to other apps with pushes to send.
    package var weight = 1
    /// Percent of the pushes that come from the bulk lane while high pushes wait.
    package var bulkFloor = 10
    /// Gateway connections per worker, if configured as one number; nil: as in ``use``, and for a binary gateway a number per
    /// host, divided among its workers.
    package var connections: Int?
    package var use = GatewayUse()
    package var budget = GatewayBudget()
    package var credentials: Credentials

    package init(name: String, topic: String, gateway: HostPort, credentials: Credentials) {
        self.name = name
        self.topic = topic
        self.gateway = gateway
        self.credentials = credentials
    }

    /// The files of this app's credentials and trust, which a reload reads again.
    package var files: [String] { credentialFiles + (caFile.map { [$0] } ?? []) }

    /// The files that may hold a private key.
    package var credentialFiles: [String] {
        switch credentials {
        case .key(let file, _, _): [file]
        case .certificate(let file, let keyFile, _): [file] + (keyFile.map { [$0] } ?? [])
        }
    }
}

extension AppConfiguration {
    /// Most records of a shard's suppression list: a little more than its share, because shards are not equally full.
    package func suppressionLimit(shards: Int) -> Int { suppression.tokens / shards * 21 / 20 + 100 }

    /// The gateway's environment: tokens are valid in one environment only. Each gateway that is not Apple's is an
    /// environment of its own.
    package var gatewayEnvironment: String {
        switch gateway.host {
        case "api.push.apple.com", "gateway.push.apple.com": Environment.production.rawValue
        case "api.sandbox.push.apple.com", "api.development.push.apple.com",
            "gateway.sandbox.push.apple.com":
            Environment.sandbox.rawValue
        default: gateway.description
        }
    }
}

extension AppConfiguration.Environment {
    /// Apple's provider host.
    package var gateway: HostPort {
        switch self {
        case .production: HostPort(host: "api.push.apple.com", port: 443)
        case .sandbox: HostPort(host: "api.sandbox.push.apple.com", port: 443)
        }
    }
}

extension AppConfiguration {
    /// Connections of a host to a binary gateway: each invalid token ends one. The number stays below 64 for a gateway, too,
    /// which notices a close a little later.
    private static let binaryConnections = 56

    /// Most gateway connections of each of a host's workers.
    package func connections(workers: Int) -> Int {
        binary == nil ? use.maxConnections : connections ?? max(1, Self.binaryConnections / workers)
    }
    /// Most dials a minute to a binary gateway of each of a host's workers.
    package func dialsPerMinute(workers: Int) -> Int {
        max(1, (binary?.maxDials ?? 0) / max(1, workers))
    }
}

/// How each worker uses an app's gateway: connections, streams, rates and dialling.
///
/// Names and meanings are those of go-apns.
package struct GatewayUse: Sendable, Equatable {
    /// The step by which the number of connections changes.
    package enum Scale: Sendable, Equatable {
        case incremental(Int)
        case exponential(Double)
        case constant
    }

    package var minConnections = 1
    package var maxConnections = 8
    /// Streams of a connection; nil: as many as the gateway allows.
    package var maxStreams: Int?
    /// Pushes a second; nil: no limit.
    package var maxRate: Double?
    /// Bits a second; nil: no limit.
    package var maxBandwidth: Double?
    package var scale = Scale.incremental(1)
    /// How long streams must be scarce, or one step fewer must suffice, before the number of connections changes.
    package var minSustain: Duration = .seconds(2)
    /// Time between two checks.
    package var pollInterval: Duration = .milliseconds(200)
    /// Time after a change without further changes.
    package var settlePeriod: Duration = .seconds(4)
    package var dialTimeout: Duration = .seconds(10)
    /// The backoff after a first failed dial; it doubles with each further one.
    package var minDialBackOff: Duration = .milliseconds(500)
    /// The longest backoff; for a binary gateway the default is three minutes.
    package var maxDialBackOff: Duration = .seconds(10)
    /// The random part of a backoff, 0...1.
    package var dialBackOffJitter = 0.5
    /// Time without received bytes after which a connection is probed by PING; nil: never.
    package var keepAlive: Duration? = .seconds(3600)

    package init() {}
}

/// The limits of a whole farm at an app's gateway, divided among its hosts and workers; nil: no limit.
package struct GatewayBudget: Sendable, Equatable {
    /// Pushes a second.
    package var maxRate: Double?
    /// Bits a second.
    package var maxBandwidth: Double?
    package var maxConnections: Int?

    package init() {}
}

/// Settings of a gateway that uses the binary interface.
package struct BinaryGateway: Sendable, Equatable {
    /// The command of notifications: 2, or 1 or 0 for older gateways.
    package var command: UInt8 = 2
    /// Pushes count as accepted after this time without a reply; longer, if the gateway's replies take longer.
    package var quietTime: Duration = .seconds(1)
    /// Connections end with a push that the gateway refuses: its reply proves that the others were accepted.
    package var endsWithSentinel = false
    /// KeyUpdates of TLS 1.3 ask the gateway how much its program has read.
    package var asksIfRead = true
    /// Most pushes of one worker with an unknown outcome.
    package var window = 262_144
    /// Connections that a host may dial in a minute.
    package var maxDials = 3_000
    /// The feedback service; nil: none.
    package var feedback: HostPort?
    package var feedbackInterval: Duration = .seconds(3600)

    package init() {}

    /// Bytes of a payload that the command takes.
    package var longestPayload: Int { command == 2 ? 2048 : 256 }
}
