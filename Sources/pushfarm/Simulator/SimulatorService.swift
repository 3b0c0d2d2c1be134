import EventLoop
import FarmLogging
import Logging
import Simulator

/// `pushfarm simulator`: runs until a signal or the `stop` command ends it.
@Loop struct SimulatorService {
    let options: SimulatorOptions
    let console: Console

    func run() async throws {
        let end = EndSignal()
        let gateway: SimulatedGateway
        do {
            gateway = try await SimulatedGateway.start(options, log: Logger(label: "simulator"))
        } catch .unusable(let reason) {
            throw CommandFailure.usage(reason)
        } catch .system(let reason) {
            throw CommandFailure.failed(reason)
        }
        Loop.keep(gateway)
        gateway.onStop = { end.signal() }
        announce(gateway)
        await end.wait()
        gateway.stop()
    }

    private func announce(_ gateway: SimulatedGateway) {
        let credentials = gateway.credentials
        let host = options.hosts[0].contains(":") ? "[\(options.hosts[0])]" : options.hosts[0]
        let url = { (scheme: String, port: UInt16) in
            (options.usesTLS ? scheme : scheme == "https" ? "http" : "tcp") + "://\(host):\(port)"
        }
        let started = SimulatorStarted(
            gateway: url("https", gateway.port), binary: gateway.binaryPort.map { url("tls", $0) },
            feedback: gateway.feedbackPort.map { url("tls", $0) }, caFile: credentials.authorityFile,
            keyFile: credentials.signingKeyFile, keyID: SimulatorCredentials.keyID,
            team: SimulatorCredentials.teamID, certificateFile: credentials.clientPEM,
            bundle: credentials.bundle, control: options.controlSocket ?? "")
        let services = [
            started.binary.map { "binary interface on \($0)\n" },
            started.feedback.map { "feedback service on \($0)\n" },
        ].compactMap(\.self)
        console.show(
            started.json,
            "listening on \(started.gateway); point a farm at it with\n\n"
                + credentials.instructions(port: gateway.port) + "\n\n"
                + (services.isEmpty ? "" : services.joined() + "\n"))
    }
}
