/// One app: whom it pushes for, through which gateway, and with which credentials.
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

    /// How much is remembered of tokens that were found dead.
    package struct Suppression: Sendable, Equatable {
        package var days = 30
        /// At most, or few more; the oldest go first.
        package var tokens = 1_000_000
        /// Percent of bad tokens among the last thousand answers above which suppressions wait until they are confirmed.
        package var holdShare = 20
        /// From which on the app is paused.
        package var pauseShare = 95
    }

    /// What is kept of pushes that failed though their tokens are fine; the oldest go first.
    package struct Dead: Sendable, Equatable {
        package var days = 14
        package var pushes = 1_000_000
        /// Of 1,048,576 bytes, with payloads.
        package var megabytes = 256
    }

    /// What is remembered of each push, for `pushfarm find`.
    package struct Audit: Sendable, Equatable {
        package var hours = 24
        /// Of 1,048,576 bytes in Redis; 0: nothing is remembered.
        package var megabytes = 0

        package var isOn: Bool { megabytes > 0 }
    }

    /// What a job may choose as its topic besides the app's own.
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
    /// nil: it speaks HTTP/2.
    package var binary: BinaryGateway?
    /// HTTP CONNECT proxy on the way to the gateway.
    package var proxy: ProxyAddress?
    /// Trust these instead of the system's roots.
    package var caFile: String?
    /// How long an answer to a request may take.
    package var requestTimeout: Duration = .seconds(20)
    /// Where a gateway's Retry-After asks for more, so much counts.
    package var maxRetryAfter: Duration = .seconds(600)
    package var maxJobBytes = 64 << 20
    /// Tokens, or pushes, of one job.
    package var maxTokens = 100_000
    /// Open pushes, and jobs in the inbox, together.
    package var maxBacklog = 10_000_000
    /// Jobs in the inbox.
    package var maxInbox = 1_000_000
    /// Of the inbox; nil: a quarter of what Redis may use.
    package var maxInboxBytes: Int?
    package var suppression = Suppression()
    package var dead = Dead()
    package var audit = Audit()
    /// Its share of a worker's time when other apps have something to send as well, relative to theirs.
    package var weight = 1
    /// Percent of what is sent that is the bulk lane's while high waits, too.
    package var bulkFloor = 10
    /// Gateway connections per worker, if their number was said as one; nil: as ``use`` has it, and of a binary gateway so many a
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

    /// The files that hold this app's credentials and trust: what a reload has to look at again.
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
    /// Records that a shard's suppression list keeps at most: some more than its share, since shards are not equally full.
    package func suppressionLimit(shards: Int) -> Int { suppression.tokens / shards * 21 / 20 + 100 }

    /// Where the gateway belongs: tokens of one environment are not known in another. Other gateways than Apple's are each
    /// an environment of its own.
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
    /// Apple's provider host. Source: facts 1.1.
    package var gateway: HostPort {
        switch self {
        case .production: HostPort(host: "api.push.apple.com", port: 443)
        case .sandbox: HostPort(host: "api.sandbox.push.apple.com", port: 443)
        }
    }
}

extension AppConfiguration {
    /// Of a host, to a binary gateway: each bad token costs one of them its time. Below 64 also as a gateway counts them, which notices
    /// a close a little later.
    private static let binaryConnections = 56

    /// Gateway connections of each of a host's workers, at most.
    package func connections(workers: Int) -> Int {
        binary == nil ? use.maxConnections : connections ?? max(1, Self.binaryConnections / workers)
    }
    /// Dials of each of a host's workers in a minute to a binary gateway, at most.
    package func dialsPerMinute(workers: Int) -> Int {
        max(1, (binary?.maxDials ?? 0) / max(1, workers))
    }
}

/// How much an app makes of its gateway, in each worker: connections, streams, rates, and how connections are made.
///
/// Names and meaning are those that users of go-apns know.
package struct GatewayUse: Sendable, Equatable {
    /// By how much the number of connections changes at a time.
    package enum Scale: Sendable, Equatable {
        case incremental(Int)
        case exponential(Double)
        case constant
    }

    package var minConnections = 1
    package var maxConnections = 8
    /// Streams of a connection; nil: as many as the gateway allows.
    package var maxStreams: Int?
    /// Pushes a second; nil: any number.
    package var maxRate: Double?
    /// Bits a second; nil: any number.
    package var maxBandwidth: Double?
    package var scale = Scale.incremental(1)
    /// For so long streams must be short, or a step less enough, before the number of connections changes.
    package var minSustain: Duration = .seconds(2)
    /// Between two looks.
    package var pollInterval: Duration = .milliseconds(200)
    /// For so long nothing is decided after a change.
    package var settlePeriod: Duration = .seconds(4)
    package var dialTimeout: Duration = .seconds(10)
    /// The pause after a first failed dial; it doubles with each further one.
    package var minDialBackOff: Duration = .milliseconds(500)
    /// With a binary gateway three minutes unless given.
    package var maxDialBackOff: Duration = .seconds(10)
    /// The part of a pause that is random, 0...1.
    package var dialBackOffJitter = 0.5
    /// A connection on which nothing came for so long is asked whether it is still there; nil: it is not.
    package var keepAlive: Duration? = .seconds(3600)

    package init() {}
}

/// What a whole farm makes of an app's gateway at most, shared out over its hosts and workers; nil: any amount.
package struct GatewayBudget: Sendable, Equatable {
    /// Pushes a second.
    package var maxRate: Double?
    /// Bits a second.
    package var maxBandwidth: Double?
    package var maxConnections: Int?

    package init() {}
}

/// How an app's gateway is spoken to, if it speaks the binary interface.
package struct BinaryGateway: Sendable, Equatable {
    /// With which command notifications are sent: 2, or 1 or 0 for gateways that know no better.
    package var command: UInt8 = 2
    /// What was sent counts as accepted when the gateway was quiet for so long; more, if its replies take longer.
    package var quietTime: Duration = .seconds(1)
    /// Connections that are given up end with a push that is known to be refused: the reply proves the others.
    package var endsWithSentinel = false
    /// Its TLS is asked, by KeyUpdates of TLS 1.3, what its program has read.
    package var asksIfRead = true
    /// Pushes that one worker may have sent without knowing their outcome.
    package var window = 262_144
    /// Connections that a host may dial in a minute.
    package var maxDials = 3_000
    /// Where dead tokens are read; nil: nowhere.
    package var feedback: HostPort?
    package var feedbackInterval: Duration = .seconds(3600)

    package init() {}

    /// Bytes of a payload that the command takes.
    package var longestPayload: Int { command == 2 ? 2048 : 256 }
}
