/// The configuration of one app: topic, gateway, credentials and limits.
package struct AppConfiguration: Sendable, Equatable {
    package enum Environment: String, Sendable, CaseIterable {
        case production, sandbox
    }

    package enum Credentials: Sendable, Equatable {
        /// Provider tokens, signed with a .p8 key. `file` is an absolute path.
        case key(file: String, id: String, team: String)
        /// A TLS client certificate in a .p12 or .pem file. `keyFile` has the private key of a .pem file; if `keyFile` is nil,
        /// the private key is also in `file`.
        case certificate(file: String, keyFile: String?, password: Password?)
    }

    /// Limits of the suppression list.
    package struct Suppression: Sendable, Equatable {
        package var days = 30
        /// Approximate maximum number of suppressed tokens. The oldest entries are removed first.
        package var tokens = 1_000_000
        /// If more than this percentage of the last thousand responses report an invalid token, new suppressions need
        /// confirmation.
        package var holdShare = 20
        /// If more than this percentage of the last thousand responses report an invalid token, the farm pauses the app.
        package var pauseShare = 95
    }

    /// Limits of an app's dead letters. The oldest dead letters are removed first.
    package struct DeadLetters: Sendable, Equatable {
        package var days = 14
        package var pushes = 1_000_000
        /// Maximum size including the payloads, in units of 1,048,576 bytes.
        package var megabytes = 256
    }

    /// Limits of the audit records of single pushes, which `pushfarm find` reads.
    package struct Audit: Sendable, Equatable {
        package var hours = 24
        /// Maximum size in Redis, in units of 1,048,576 bytes; 0 turns the records off.
        package var megabytes = 0

        package var isOn: Bool { megabytes > 0 }
    }

    /// The topics that a job may choose instead of the app's own topic.
    package enum Topics: Sendable, Equatable {
        case any
        case these([String])

        /// The allowed topics; nil allows any topic.
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
    /// The settings of a binary gateway; nil if the gateway uses HTTP/2.
    package var binary: BinaryGateway?
    /// The HTTP CONNECT proxy to the gateway; nil without a proxy.
    package var proxy: ProxyAddress?
    /// A file of trusted certificates, which replace the system's roots.
    package var caFile: String?
    /// The Redis with the app's registry of devices; nil: the farm's Redis.
    package var registry: RedisLocation?
    /// How long to wait for a gateway's response to a push.
    package var requestTimeout: Duration = .seconds(20)
    /// The maximum time of a gateway's Retry-After; a longer Retry-After counts as this time.
    package var maxRetryAfter: Duration = .seconds(600)
    package var maxJobBytes = 64 << 20
    /// The maximum number of pushes in one job.
    package var maxTokens = 100_000
    /// The maximum number of the app's open pushes plus the jobs in its inbox.
    package var maxBacklog = 10_000_000
    /// The maximum number of jobs in the inbox.
    package var maxInbox = 1_000_000
    /// The maximum size of the inbox in bytes; nil: a quarter of Redis's memory limit.
    package var maxInboxBytes: Int?
    package var suppression = Suppression()
    package var deadLetters = DeadLetters()
    package var audit = Audit()
    /// The app's share of a worker's time, relative to other apps that have pushes to send.
    package var weight = 1
    /// The minimum percentage of pushes from the bulk lane while the high lane has pushes.
    package var bulkFloor = 10
    /// The maximum number of background pushes to a stored device in an hour.
    package var backgroundBudget = BackgroundBudget.off
    /// The number of gateway connections per worker, if the configuration sets one number. If nil, ``use`` decides. If this is
    /// nil for a binary gateway, the host's workers share the default number of connections of a host.
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

    /// The app's credential and CA files. A reload reads them again.
    package var files: [String] { credentialFiles + (caFile.map { [$0] } ?? []) }

    /// The files that may contain a private key.
    package var credentialFiles: [String] {
        switch credentials {
        case .key(let file, _, _): [file]
        case .certificate(let file, let keyFile, _): [file] + (keyFile.map { [$0] } ?? [])
        }
    }
}

extension AppConfiguration {
    /// The maximum size of one shard's suppression list. The maximum is a little more than the app's maximum divided by the
    /// number of shards, because some shards have more tokens than others.
    package func suppressionLimit(shards: Int) -> Int { suppression.tokens / shards * 21 / 20 + 100 }

    /// The environment of the app's gateway. A token is valid in one environment only.
    /// Each gateway other than Apple's is a separate environment.
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
    /// The address of Apple's gateway.
    package var gateway: HostPort {
        switch self {
        case .production: HostPort(host: "api.push.apple.com", port: 443)
        case .sandbox: HostPort(host: "api.sandbox.push.apple.com", port: 443)
        }
    }
}

extension AppConfiguration {
    /// The number of connections of a host to a binary gateway. A host needs many connections, because the gateway closes a
    /// connection after each invalid token. The number is below 64, because a gateway that allows 64 connections may count a
    /// closed connection as open for a short time.
    private static let binaryConnections = 56

    /// The maximum number of gateway connections of one worker, when the host has `workers` workers.
    package func connections(workers: Int) -> Int {
        binary == nil ? use.maxConnections : connections ?? max(1, Self.binaryConnections / workers)
    }
    /// The maximum number of dials per minute of one worker to a binary gateway, when the host has `workers` workers.
    package func dialsPerMinute(workers: Int) -> Int {
        max(1, (binary?.maxDials ?? 0) / max(1, workers))
    }
}

/// How each worker uses an app's gateway: connections, streams, rates and dialling.
///
/// The names and meanings come from the Go library go-apns.
package struct GatewayUse: Sendable, Equatable {
    /// How the number of connections grows and shrinks.
    package enum Scale: Sendable, Equatable {
        case automatic
        case incremental(Int)
        case exponential(Double)
        case constant
    }

    package var minConnections = 1
    package var maxConnections = 16
    /// Maximum streams of a connection; nil: the number that the gateway allows.
    package var maxStreams: Int?
    /// Maximum pushes per second; nil: no limit.
    package var maxRate: Double?
    /// Maximum bits per second; nil: no limit.
    package var maxBandwidth: Double?
    package var scale = Scale.automatic
    /// If the connections have had too few streams for this time, the worker opens more connections. If fewer connections would
    /// have been enough for this time, the worker closes some connections.
    package var minSustain: Duration = .seconds(2)
    /// The time between two checks of the number of connections.
    package var pollInterval: Duration = .milliseconds(200)
    /// The minimum time between two changes of the number of connections.
    package var settlePeriod: Duration = .seconds(4)
    package var dialTimeout: Duration = .seconds(10)
    /// The backoff after the first failed dial. The backoff doubles after each further failed dial.
    package var minDialBackOff: Duration = .milliseconds(500)
    /// The longest backoff after failed dials. A binary gateway's default is three minutes.
    package var maxDialBackOff: Duration = .seconds(10)
    /// The random part of the backoff, 0...1.
    package var dialBackOffJitter = 0.5
    /// A connection is probed by PING when no bytes arrived for this time; nil: never.
    package var keepAlive: Duration? = .seconds(3600)

    package init() {}
}

/// The sending limits of the whole farm at an app's gateway, divided among its hosts and workers.
package struct GatewayBudget: Sendable, Equatable {
    /// Maximum pushes per second; nil: no limit.
    package var maxRate: Double?
    /// Maximum bits per second; nil: no limit.
    package var maxBandwidth: Double?
    package var maxConnections: Int?

    package init() {}
}

/// Settings of a gateway that uses the binary interface.
package struct BinaryGateway: Sendable, Equatable {
    /// The command byte of a notification frame: 2; older gateways need 1 or 0.
    package var command: UInt8 = 2
    /// If no reply arrives in this time after the gateway has read a push, the push counts as accepted. The worker uses a longer
    /// time if the gateway's replies take longer.
    package var quietTime: Duration = .seconds(1)
    /// Whether the last push of each connection is a push that the gateway must refuse. The gateway's reply to this push proves
    /// that the gateway has accepted all earlier pushes of the connection.
    package var endsWithSentinel = false
    /// Whether the worker sends KeyUpdate requests of TLS 1.3 to find out how much the gateway's program has read.
    package var asksIfRead = true
    /// The maximum number of pushes that one worker may have sent without knowing their outcomes.
    package var window = 262_144
    /// The maximum number of connections that a host may dial in a minute.
    package var maxDials = 3_000
    /// The address of the feedback service; nil without one.
    package var feedback: HostPort?
    package var feedbackInterval: Duration = .seconds(3600)

    package init() {}

    /// The longest payload in bytes that the command allows.
    package var longestPayload: Int { command == 2 ? 2048 : 256 }
}
