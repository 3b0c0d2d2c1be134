import APNs
import EventLoop
import Foundation
import Logging
import LoopTesting
import OpenSSL
import Simulator
import Transport

@testable import Gateway

/// A simulator in this process, and a sender that is connected to it.
@Loop final class GatewayFixture {
    let gateway: SimulatedGateway
    let sender = Sender()
    private let folder: String

    /// Runs `body` with a gateway that `change` configures, and cleans up afterwards.
    nonisolated static func run(
        _ change: (inout SimulatorOptions) -> Void = { _ in },
        _ body: @escaping @Loop (GatewayFixture) async throws -> Void
    ) async throws {
        var options = SimulatorOptions()
        change(&options)
        let asked = options
        try await onLoop { () async throws -> Void in
            let farm = try await GatewayFixture(asked)
            try await LoopTesting.run {
                try await body(farm)
            } cleaningUp: {
                farm.sender.pool.closeAll()
                farm.gateway.stop()
                try FileManager.default.removeItem(atPath: farm.folder)
            }
        }
    }

    private init(_ options: SimulatorOptions) async throws {
        folder = NSTemporaryDirectory() + "pushfarm-gateway-\(UUID().uuidString.prefix(8))"
        var options = options
        options.port = 0
        options.folder = folder
        options.countsDistinct = true
        gateway = try await SimulatedGateway.start(options, log: Logger(label: "simulator"))
    }

    func plan(
        token: [UInt8]?? = .none, generation: UInt32 = 1, trust: Trust? = nil,
        certificate: TLSIdentity? = nil,
        timeout: Duration = .seconds(20), wire: GatewayProtocol = .http2, connections: Int = 1
    ) throws -> GatewaySettings {
        var settings = ClientSettings(trust: trust ?? .authorityFile(gateway.credentials.authorityFile))
        settings.applicationProtocols = wire.applicationProtocol.map { [$0] } ?? []
        settings.identity = certificate
        return GatewaySettings(
            host: "localhost", port: wire.applicationProtocol != nil ? gateway.port : gateway.binaryPort ?? 0,
            tls: try TLSContext(client: settings),
            providerToken: try token ?? self.token(), generation: generation, requestTimeout: timeout,
            wire: wire, connections: connections, firstAddress: 0)
    }

    /// Returns a provider token that is `age` seconds old. The gateway refuses the token only because of its age.
    func token(age: Int64 = 0) throws -> [UInt8] {
        let signer = try SigningKey(file: gateway.credentials.signingKeyFile)
        return ProviderToken.make(
            keyID: SimulatorCredentials.keyID, teamID: SimulatorCredentials.teamID,
            issuedAt: Int64(Date().timeIntervalSince1970) - age
        ) { signer.sign($0) }
    }

    /// Executes a command of the simulator.
    func order(_ line: String) throws {
        _ = try gateway.carryOut(FaultCommand(line, now: Int64(Date().timeIntervalSince1970 * 1000)))
    }

    var counters: Counters { gateway.counters }
    var repeated: Int { gateway.counters.distinct?.repeatedIDs ?? -1 }
}
