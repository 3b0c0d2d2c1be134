/// The settings that a worker needs to send an app's pushes.
///
/// The settings are sent only over the control channel, and never in arguments, in the environment or in Redis.
package struct AppSetup: Equatable, Sendable {
    /// How the app authenticates to the gateway.
    package enum Credentials: Equatable, Sendable {
        /// A provider token. This value does not contain the token: the worker receives the first token and each renewed token in
        /// separate messages.
        case providerToken
        /// Certificate chain and private key, in PEM.
        case certificate(pem: [UInt8])
    }

    /// Settings of the binary interface.
    package struct Binary: Equatable, Sendable {
        /// The command number of the frames: 0, 1 or 2.
        package var command: UInt8
        /// The minimum quiet time: how long the gateway must be silent after it has read a push, before the push counts as
        /// accepted.
        package var quietMilliseconds: UInt32
        /// Whether the worker ends a connection with a push that the gateway must refuse. The gateway's reply to this push proves
        /// that all earlier pushes were accepted.
        package var endsWithSentinel: Bool
        /// Whether the worker sends TLS 1.3 KeyUpdates to learn how many bytes the gateway's program has read.
        package var asksIfRead: Bool
        /// The most pushes that a worker may have sent whose outcomes it does not know yet.
        package var window: UInt32
        /// Maximum connections that a worker may open per minute.
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
    /// The app's topic, to which a push type's suffix is added; empty if the credentials contain the topic.
    package var topic: String
    package var host: String
    package var port: UInt16
    /// The gateway's environment: `production`, `sandbox`, or host and port. A token may be valid in only one environment.
    package var environment: String
    /// Seconds that a token stays suppressed after a gateway reported the token as unregistered or invalid.
    package var suppressionSeconds: UInt32
    /// The app's share of a worker's time, relative to the weights of other apps that have pushes to send.
    package var weight: UInt8 = 1
    /// While pushes of both lanes are queued, at least this percentage of the sent pushes is of lane bulk; at most 90.
    package var bulkFloor: UInt8 = 10
    /// Whether reports contain each delivered push, which the audit of outcomes needs.
    package var isAudited = false
    package var credentials: Credentials
    /// The CA certificates that the worker trusts, in PEM. If there are none, the worker trusts the system's CA certificates.
    package var trustedCA: [UInt8]
    package var requestTimeoutMilliseconds: UInt32
    /// The settings of the binary interface; nil if the gateway speaks HTTP/2.
    package var binary: Binary?
    /// The host of the HTTP proxy; empty if the worker connects without a proxy.
    package var proxyHost: String
    package var proxyPort: UInt16
    /// Maximum connections of each worker.
    package var connections: UInt8
    package var use: Use
    /// A number that grows with each change of the app's credentials or gateway. Each connection belongs to the generation with
    /// which it was opened.
    package var generation: UInt32

    package init(
        name: String, topic: String, host: String, port: UInt16, environment: String = "",
        suppressionSeconds: UInt32 = 30 * 86_400, credentials: Credentials, trustedCA: [UInt8] = [],
        requestTimeoutMilliseconds: UInt32 = 20_000, binary: Binary? = nil, proxyHost: String = "",
        proxyPort: UInt16 = 0,
        connections: UInt8 = 1, use: Use = Use(), generation: UInt32 = 0
    ) {
        (self.name, self.topic, self.host, self.port) = (name, topic, host, port)
        (self.environment, self.suppressionSeconds) = (environment, suppressionSeconds)
        (self.credentials, self.trustedCA) = (credentials, trustedCA)
        (self.requestTimeoutMilliseconds, self.binary) = (requestTimeoutMilliseconds, binary)
        (self.proxyHost, self.proxyPort, self.connections) = (proxyHost, proxyPort, connections)
        (self.use, self.generation) = (use, generation)
    }
}

extension AppSetup: ControlValue {
    package func write(to writer: inout ControlWriter) {
        writer.write(name, topic, host, port, environment, suppressionSeconds, weight, bulkFloor, isAudited)
        writer.write(credentials, trustedCA, requestTimeoutMilliseconds, binary)
        writer.write(proxyHost, proxyPort, connections, use, generation)
    }

    package init(from reader: inout ControlReader) throws(ControlError) {
        (name, topic, host, port, environment) = try reader.readAll()
        (suppressionSeconds, weight, bulkFloor, isAudited) = try reader.readAll()
        guard bulkFloor <= 90 else { throw .unknownKind(bulkFloor) }
        (credentials, trustedCA, requestTimeoutMilliseconds, binary) = try reader.readAll()
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
