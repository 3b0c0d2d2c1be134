import APNs
import EventLoop
import Foundation
import Logging
import LoopTesting
import OpenSSL
import Simulator
import Transport

/// A simulator in this process with its own folder, and connections to it.
@Loop final class TestGateway {
    let gateway: SimulatedGateway
    private let folder: String
    private var clients: [TestClient] = []
    private var senders: [TestSender] = []

    /// Runs `body` with a gateway that `options` configures, and cleans up afterwards.
    nonisolated static func run(
        _ options: SimulatorOptions = SimulatorOptions(),
        _ body: @escaping @Loop (TestGateway) async throws -> Void
    ) async throws {
        try await onLoop {
            let test = try await TestGateway(options)
            try await LoopTesting.run {
                try await body(test)
            } cleaningUp: {
                for client in test.clients { client.close() }
                for sender in test.senders { sender.close() }
                test.gateway.stop()
                try FileManager.default.removeItem(atPath: test.folder)
            }
        }
    }

    private init(_ options: SimulatorOptions) async throws {
        folder = NSTemporaryDirectory() + "pushfarm-simulator-\(UUID().uuidString.prefix(8))"
        var options = options
        options.port = 0
        options.folder = folder
        options.ledger = folder + "/ledger"
        options.controlSocket = folder + "/control"
        options.countsDistinct = true
        gateway = try await SimulatedGateway.start(options, log: Logger(label: "simulator"))
    }

    // MARK: Connections

    /// Connects an HTTP/2 client.
    /// - Parameter certificate: the client certificate to show to the gateway.
    func connect(certificate: TLSIdentity? = nil, alpn: [String] = ["h2"]) async throws -> TestClient {
        let settings = ClientSettings(
            trust: .authorityFile(gateway.credentials.authorityFile), applicationProtocols: alpn,
            identity: certificate)
        let tls = gateway.options.usesTLS ? try TLSContext(client: settings) : nil
        let stream = try await Dial(
            .tcp(host: "127.0.0.1", port: gateway.port), tls: tls, serverName: "localhost",
            timeout: .seconds(10)
        ).connect()
        let client = TestClient(stream)
        clients.append(client)
        return client
    }

    /// Opens a connection on which the test writes raw bytes, for frames that no client would send.
    func connectRaw() async throws -> ByteStream {
        try await Dial(
            .tcp(host: "127.0.0.1", port: gateway.port), tls: nil, serverName: "localhost",
            timeout: .seconds(10)
        ).connect()
    }

    /// Connects to the binary interface, or to `port`.
    ///
    /// - Parameter certificate: nil for the temporary certificate that the gateway has made.
    /// With `isAnonymous`, the client shows no certificate.
    func send(
        to port: UInt16? = nil, at host: String = "127.0.0.1", certificate: TLSIdentity? = nil,
        isAnonymous: Bool = false
    ) async throws -> TestSender {
        let own = try certificate ?? TLSIdentity(file: gateway.credentials.clientPEM)
        let settings = ClientSettings(
            trust: .authorityFile(gateway.credentials.authorityFile), identity: isAnonymous ? nil : own)
        let tls = gateway.options.usesTLS ? try TLSContext(client: settings) : nil
        let stream = try await Dial(
            .tcp(host: host, port: port ?? gateway.binaryPort!), tls: tls, serverName: "localhost",
            timeout: .seconds(10)
        ).connect()
        let sender = TestSender(stream)
        senders.append(sender)
        return sender
    }

    /// Reads the feedback service until it closes the connection.
    func feedback(certificate: TLSIdentity? = nil, isAnonymous: Bool = false) async throws -> [UInt8] {
        try await send(to: gateway.feedbackPort!, certificate: certificate, isAnonymous: isAnonymous)
            .untilEnd()
    }

    /// Returns a counter of the binary interface by its name in the JSON text of the counters.
    func binaryNumber(_ name: String) -> Int? {
        let data = Data(gateway.countersJSON().utf8)
        let counters = try? JSONSerialization.jsonObject(with: data) as? [String: Any]
        return (counters?["binary"] as? [String: Any])?[name] as? Int
    }

    var binary: BinaryCounters { gateway.binary!.counters }

    /// Returns the temporary certificate authority that the gateway trusts.
    func authority() throws -> ThrowAwayAuthority {
        let file = URL(fileURLWithPath: gateway.options.folder + "/authority.pem")
        return try ThrowAwayAuthority(pem: Array(try Data(contentsOf: file)))
    }

    /// Makes the value of an `authorization` header. With the default arguments, the gateway accepts this header.
    func authorization(
        key: String = SimulatorCredentials.keyID, team: String = SimulatorCredentials.teamID,
        age: Int64 = 0, file: String? = nil
    ) throws -> String {
        let signer = try SigningKey(file: file ?? gateway.credentials.signingKeyFile)
        let issuedAt = Int64(Date().timeIntervalSince1970) - age
        let token = ProviderToken.make(keyID: key, teamID: team, issuedAt: issuedAt) { signer.sign($0) }
        return "bearer " + String(decoding: token, as: UTF8.self)
    }

    /// Connects and waits for one accepted push, which raises the stream limit.
    func connectAndStart() async throws -> TestClient {
        let client = try await connect()
        client.authorization = try authorization()
        let reply = try await client.push()
        guard reply == .response(200) else { throw Unexpected(what: "\(reply)") }
        return client
    }

    // MARK: Observation

    func ledger() throws -> [[String: String]] {
        let data = try Data(contentsOf: URL(fileURLWithPath: gateway.options.ledger!))
        return try data.split(separator: UInt8(ascii: "\n")).map { line in
            let object = try JSONSerialization.jsonObject(with: Data(line)) as? [String: Any]
            return (object ?? [:]).mapValues { "\($0)" }
        }
    }

    func control(_ command: String) async throws -> [String: Any] {
        let text = try await SimulatorControlClient.send(
            command, socket: gateway.options.controlSocket!, timeout: .seconds(60))
        return try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any] ?? [:]
    }

    /// Waits until a condition of the gateway is true. The function polls the condition, because no event reports it to the test.
    func until(_ isTrue: () -> Bool) async throws {
        let limit = ContinuousClock.now + .seconds(60)
        while !isTrue() {
            guard ContinuousClock.now < limit else { throw Unexpected(what: "it never came to that") }
            _ = try await control("faults")
        }
    }

    struct Unexpected: Error { let what: String }
}

extension SimulatorOptions {
    /// Options that add the binary interface and the feedback service, both without a delay of replies.
    static func binary(_ change: (inout SimulatorOptions) -> Void = { _ in }) -> SimulatorOptions {
        with { options in
            options.binaryPort = 0
            options.feedbackPort = 0
            options.faults = ["binary delay off", "binary linger off"]
            change(&options)
        }
    }

    static func with(_ change: (inout SimulatorOptions) -> Void) -> SimulatorOptions {
        var options = SimulatorOptions()
        change(&options)
        return options
    }
}
