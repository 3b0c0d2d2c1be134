import EventLoop
import FarmLogging
import Logging
import Simulator

/// `pushfarm simulator`: runs until it is told to end, by a signal or by the `stop` command.
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
        gateway.onStop = { end.give() }
        announce(gateway)
        await end.wait()
        gateway.stop()
    }

    private func announce(_ gateway: SimulatedGateway) {
        let credentials = gateway.credentials
        let place =
            options.host.contains(":")
            ? "[\(options.host)]:\(gateway.port)" : "\(options.host):\(gateway.port)"
        let started = SimulatorStarted(
            gateway: (options.usesTLS ? "https://" : "http://") + place, caFile: credentials.authorityFile,
            keyFile: credentials.signingKeyFile, keyID: SimulatorCredentials.keyID,
            team: SimulatorCredentials.teamID,
            bundle: credentials.bundle, control: options.controlSocket ?? "")
        console.show(
            started.json,
            "listening on \(started.gateway); point a farm at it with\n\n"
                + credentials.instructions(port: gateway.port) + "\n\n")
    }
}
