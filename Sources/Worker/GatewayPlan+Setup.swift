import APNs
import ControlChannel
import Gateway
import TLS
import Transport

extension GatewayPlan {
    /// - Parameters:
    ///   - token: the provider token; `nil` for a certificate, or while none has come.
    ///   - worker: the worker's index, which chooses the address to begin with.
    /// - Throws: when certificate, key or CA cannot be used.
    init(_ setup: AppSetup, token: [UInt8]?, generation: UInt32, worker: Int) throws(CredentialError) {
        var settings = ClientSettings(
            trust: setup.authority.isEmpty ? .system : .authorities(setup.authority))
        let wire = setup.binary.map { Wire.binary(BinarySettings($0)) } ?? .http2
        settings.applicationProtocols = wire.applicationProtocol.map { [$0] } ?? []
        if case .certificate(let pem) = setup.credentials { settings.identity = try TLSIdentity(pem: pem) }
        self.init(
            host: setup.host, port: setup.port,
            proxy: setup.proxyHost.isEmpty ? nil : .tcp(host: setup.proxyHost, port: setup.proxyPort),
            tls: try TLSContext(client: settings), providerToken: token, generation: generation,
            requestTimeout: .milliseconds(Int64(setup.requestTimeoutMilliseconds)), wire: wire,
            connections: Int(setup.connections), firstAddress: worker)
    }
}

extension BinarySettings {
    fileprivate init(_ setup: AppSetup.Binary) {
        self.init(
            command: BinaryCommand(rawValue: setup.command) ?? .framed,
            quietTime: .milliseconds(Int64(setup.quietMilliseconds)),
            endsWithSentinel: setup.endsWithSentinel,
            window: Int(setup.window))
    }
}
