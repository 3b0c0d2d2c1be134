/// What a worker has to know of an app to send its pushes.
///
/// It travels over the control channel only: never by arguments, environment or Redis.
package struct AppSetup: Equatable, Sendable {
    /// How the gateway knows us.
    package enum Credentials: Equatable, Sendable {
        /// A provider token, which comes in an order of its own and is renewed.
        case providerToken
        /// Certificate chain and private key, in PEM.
        case certificate(pem: [UInt8])
    }

    /// How to speak the binary interface.
    package struct Binary: Equatable, Sendable {
        /// 0, 1 or 2.
        package var command: UInt8
        /// The shortest time of quiet after which sent pushes count as accepted.
        package var quietMilliseconds: UInt32
        /// Connections that are given up end with a push that is known to be refused.
        package var endsWithSentinel: Bool
        /// The gateway's TLS is asked what its program has read.
        package var asksIfRead: Bool
        /// Pushes that a worker may have sent without knowing their outcome.
        package var window: UInt32
        /// Connections that a worker may dial in a minute.
        package var dialsPerMinute: UInt32

        package init(
            command: UInt8, quietMilliseconds: UInt32, endsWithSentinel: Bool, asksIfRead: Bool,
            window: UInt32, dialsPerMinute: UInt32
        ) {
            self.command = command
            self.quietMilliseconds = quietMilliseconds
            self.endsWithSentinel = endsWithSentinel
            self.asksIfRead = asksIfRead
            self.window = window
            self.dialsPerMinute = dialsPerMinute
        }
    }

    package var name: String
    /// The topic that a push type's suffix is added to; empty if the credentials name it.
    package var topic: String
    package var host: String
    package var port: UInt16
    /// Where the gateway belongs: `production`, `sandbox`, or host and port. What is dead in one may live in another.
    package var environment: String
    /// For how long a token that was found dead is left out.
    package var suppressionSeconds: UInt32
    /// Its share of a worker's time when other apps have something to send as well.
    package var weight: UInt8 = 1
    /// Percent of the pushes that are bulk while high waits, too; at most 90.
    package var bulkFloor: UInt8 = 10
    /// Reports name each delivered push, for an audit.
    package var isAudited = false
    package var credentials: Credentials
    /// CA certificates in PEM to trust instead of the system's; empty: the system's.
    package var authority: [UInt8]
    package var requestTimeoutMilliseconds: UInt32
    /// nil: the gateway speaks HTTP/2.
    package var binary: Binary?
    /// Host and port of an HTTP proxy; no host: none.
    package var proxyHost: String
    package var proxyPort: UInt16
    /// Connections that each worker opens, at most.
    package var connections: UInt8
    package var use: Use
    /// Goes up with every change of the app's credentials or gateway; connections belong to one generation.
    package var generation: UInt32

    package init(
        name: String, topic: String, host: String, port: UInt16, environment: String = "",
        suppressionSeconds: UInt32 = 30 * 86_400, credentials: Credentials, authority: [UInt8] = [],
        requestTimeoutMilliseconds: UInt32 = 20_000, binary: Binary? = nil, proxyHost: String = "",
        proxyPort: UInt16 = 0,
        connections: UInt8 = 1, use: Use = Use(), generation: UInt32 = 0
    ) {
        self.name = name
        self.topic = topic
        self.host = host
        self.port = port
        self.environment = environment
        self.suppressionSeconds = suppressionSeconds
        self.credentials = credentials
        self.authority = authority
        self.requestTimeoutMilliseconds = requestTimeoutMilliseconds
        self.binary = binary
        self.proxyHost = proxyHost
        self.proxyPort = proxyPort
        self.connections = connections
        self.use = use
        self.generation = generation
    }
}

extension AppSetup {
    func write(to writer: inout ControlWriter) {
        writer.text(name)
        writer.text(topic)
        writer.text(host)
        writer.number(port)
        writer.text(environment)
        writer.number(suppressionSeconds)
        writer.number(weight)
        writer.number(bulkFloor)
        writer.number(UInt8(isAudited ? 1 : 0))
        switch credentials {
        case .providerToken: writer.number(UInt8(0))
        case .certificate(let pem):
            writer.number(UInt8(1))
            writer.blob(pem)
        }
        writer.blob(authority)
        writer.number(requestTimeoutMilliseconds)
        writer.number(UInt8(binary == nil ? 0 : 1))
        if let binary {
            writer.number(binary.command)
            writer.number(binary.quietMilliseconds)
            writer.number(UInt8(binary.endsWithSentinel ? 1 : 0))
            writer.number(UInt8(binary.asksIfRead ? 1 : 0))
            writer.number(binary.window)
            writer.number(binary.dialsPerMinute)
        }
        writer.text(proxyHost)
        writer.number(proxyPort)
        writer.number(connections)
        use.write(to: &writer)
        writer.number(generation)
    }

    init(from reader: inout ControlReader) throws(ControlError) {
        name = try reader.text()
        topic = try reader.text()
        host = try reader.text()
        port = try reader.number()
        environment = try reader.text()
        suppressionSeconds = try reader.number()
        weight = try reader.number()
        bulkFloor = try reader.number()
        guard bulkFloor <= 90 else { throw .unknownKind(bulkFloor) }
        let audited: UInt8 = try reader.number()
        guard audited <= 1 else { throw .unknownKind(audited) }
        isAudited = audited == 1
        let kind: UInt8 = try reader.number()
        switch kind {
        case 0: credentials = .providerToken
        case 1: credentials = .certificate(pem: try reader.blob())
        default: throw .unknownKind(kind)
        }
        authority = try reader.blob()
        requestTimeoutMilliseconds = try reader.number()
        let speaksBinary: UInt8 = try reader.number()
        switch speaksBinary {
        case 0: binary = nil
        case 1:
            let (command, quiet): (UInt8, UInt32) = (try reader.number(), try reader.number())
            let (sentinel, asks): (UInt8, UInt8) = (try reader.number(), try reader.number())
            guard command <= 2 else { throw .unknownKind(command) }
            guard sentinel <= 1 else { throw .unknownKind(sentinel) }
            guard asks <= 1 else { throw .unknownKind(asks) }
            binary = Binary(
                command: command, quietMilliseconds: quiet, endsWithSentinel: sentinel == 1,
                asksIfRead: asks == 1, window: try reader.number(), dialsPerMinute: try reader.number())
        default: throw .unknownKind(speaksBinary)
        }
        proxyHost = try reader.text()
        proxyPort = try reader.number()
        connections = try reader.number()
        use = try Use(from: &reader)
        generation = try reader.number()
    }
}
