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
            (self.command, self.quietMilliseconds) = (command, quietMilliseconds)
            (self.endsWithSentinel, self.asksIfRead) = (endsWithSentinel, asksIfRead)
            (self.window, self.dialsPerMinute) = (window, dialsPerMinute)
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
        (self.name, self.topic, self.host, self.port) = (name, topic, host, port)
        (self.environment, self.suppressionSeconds) = (environment, suppressionSeconds)
        (self.credentials, self.authority) = (credentials, authority)
        (self.requestTimeoutMilliseconds, self.binary) = (requestTimeoutMilliseconds, binary)
        (self.proxyHost, self.proxyPort, self.connections) = (proxyHost, proxyPort, connections)
        (self.use, self.generation) = (use, generation)
    }
}

extension AppSetup: ControlValue {
    package func write(to writer: inout ControlWriter) {
        writer.write(name, topic, host, port, environment, suppressionSeconds, weight, bulkFloor, isAudited)
        writer.write(credentials, authority, requestTimeoutMilliseconds, binary)
        writer.write(proxyHost, proxyPort, connections, use, generation)
    }

    package init(from reader: inout ControlReader) throws(ControlError) {
        (name, topic, host, port, environment) = try reader.readAll()
        (suppressionSeconds, weight, bulkFloor, isAudited) = try reader.readAll()
        guard bulkFloor <= 90 else { throw .unknownKind(bulkFloor) }
        (credentials, authority, requestTimeoutMilliseconds, binary) = try reader.readAll()
        (proxyHost, proxyPort, connections, use, generation) = try reader.readAll()
    }
}

extension AppSetup.Credentials: ControlValue {
    package func write(to writer: inout ControlWriter) {
        switch self {
        case .providerToken: writer.message(0)
        case .certificate(let pem): writer.message(1, pem)
        }
    }

    package init(from reader: inout ControlReader) throws(ControlError) {
        let kind: UInt8 = try reader.read()
        switch kind {
        case 0: self = .providerToken
        case 1: self = .certificate(pem: try reader.read())
        default: throw .unknownKind(kind)
        }
    }
}

extension AppSetup.Binary: ControlValue {
    package func write(to writer: inout ControlWriter) {
        writer.write(command, quietMilliseconds, endsWithSentinel, asksIfRead, window, dialsPerMinute)
    }

    package init(from reader: inout ControlReader) throws(ControlError) {
        (command, quietMilliseconds, endsWithSentinel) = try reader.readAll()
        (asksIfRead, window, dialsPerMinute) = try reader.readAll()
        guard command <= 2 else { throw .unknownKind(command) }
    }
}
