import APNs
import BinaryProtocol
import ControlChannel
import Delivery
import FarmPolicy
import Gateway
import OpenSSL
import Transport

extension GatewaySettings {
    /// - Parameters:
    ///   - token: the provider token; `nil` with a certificate, or before a token has arrived.
    ///   - worker: the worker's index, which selects the first gateway address.
    /// - Throws: an error when the certificate, the key or the CA cannot be used.
    init(_ setup: AppSetup, token: [UInt8]?, generation: UInt32, worker: Int) throws(CredentialError) {
        var settings = try ClientSettings(setup)
        let wire: GatewayProtocol = setup.binary.map { .binary(BinarySettings($0)) } ?? .http2
        settings.applicationProtocols = wire.applicationProtocol.map { [$0] } ?? []
        self.init(
            host: setup.host, port: setup.port,
            proxy: setup.proxy,
            tls: try TLSContext(client: settings), providerToken: token, generation: generation,
            requestTimeout: .milliseconds(Int64(setup.requestTimeoutMilliseconds)), wire: wire,
            connections: Int(setup.connections), firstAddress: worker)
        use(setup.use)
    }
}

extension GatewaySettings {
    private mutating func use(_ use: AppSetup.Use) {
        governor.minConnections = min(Int(use.minConnections), connections)
        governor.maxConnections = connections
        governor.growsByItself = wire.growsByItself
        governor.scale =
            switch use.scale {
            case .automatic: .automatic
            case .incremental(let step): .incremental(max(1, Int(step)))
            case .exponential(let factor): .exponential(factor)
            case .constant: .constant
            }
        governor.minSustain = .milliseconds(Int64(use.sustainMilliseconds))
        governor.pollInterval = .milliseconds(Int64(max(1, use.pollMilliseconds)))
        governor.settlePeriod = .milliseconds(Int64(use.settleMilliseconds))
        if use.maxStreams > 0 { maxStreams = Int(use.maxStreams) }
        dial.timeout = .milliseconds(Int64(use.dialMilliseconds))
        dial.firstPause = .milliseconds(Int64(use.minBackOffMilliseconds))
        dial.longestPause = .milliseconds(Int64(use.maxBackOffMilliseconds))
        dial.jitter = min(1, use.backOffJitter)
        longestRetryAfter = .seconds(Int64(use.maxRetryAfterSeconds))
        keepAlive = use.keepAliveSeconds > 0 ? .seconds(Int64(use.keepAliveSeconds)) : nil
    }
}

extension BinarySettings {
    fileprivate init(_ setup: AppSetup.Binary) {
        self.init(
            command: BinaryCommand(rawValue: setup.command) ?? .framed,
            quietTime: .milliseconds(Int64(setup.quietMilliseconds)),
            endsWithSentinel: setup.endsWithSentinel, asksIfRead: setup.asksIfRead,
            window: Int(setup.window), dialsPerMinute: max(1, Int(setup.dialsPerMinute)))
    }
}

extension ClientSettings {
    /// Creates TLS settings from the app's authorities and credentials.
    init(_ setup: AppSetup) throws(CredentialError) {
        self.init(trust: setup.trustedCA.isEmpty ? .system : .authorities(setup.trustedCA))
        if case .certificate(let pem) = setup.credentials { identity = try TLSIdentity(pem: pem) }
    }
}

extension AppSetup {
    var proxy: Endpoint? { proxyHost.isEmpty ? nil : .tcp(host: proxyHost, port: proxyPort) }
}

/// The limits that an operator has set for an app in one worker; nil means unlimited.
struct RateLimits: Hashable {
    /// Pushes per second.
    var rate: Double?
    /// Bits per second.
    var bandwidth: Double?

    init() {}

    init(_ use: AppSetup.Use) {
        rate = use.maxRate > 0 ? use.maxRate : nil
        bandwidth = use.maxBandwidth > 0 ? use.maxBandwidth : nil
    }
}

extension FarmBudget {
    init(_ use: AppSetup.Use) {
        self.init(
            rate: use.budgetRate > 0 ? use.budgetRate : nil,
            bandwidth: use.budgetBandwidth > 0 ? use.budgetBandwidth : nil,
            connections: use.budgetConnections > 0 ? Int(use.budgetConnections) : nil)
    }
}
