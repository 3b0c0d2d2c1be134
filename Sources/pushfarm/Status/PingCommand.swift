import ArgumentParser
import ControlChannel
import EventLoop
import PushModel

/// Asks this machine's coordinator for its status over the control socket. The command needs neither Redis nor a port,
/// so it can be the health check of a container.
struct PingCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ping",
        abstract: "Checks that this machine's coordinator is alive and ready.",
        discussion: """
            The command uses the control socket in the state folder, not Redis. The
            coordinator is ready when its intake and at least one of its workers are ready.
            The exit status is 1 when the coordinator is alive but not ready, and 75 when
            the coordinator does not reply.

            Example:
              pushfarm ping
              pushfarm ping --alive --timeout 2
            """)

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions

    @Flag(help: "Succeeds when the coordinator replies, even if it is not ready.")
    var alive = false

    @Option(reads: ArgumentHelp("The longest time to wait.", valueName: "duration"))
    var timeout = DurationOption(seconds: 5)

    func validate() throws {
        try timeout.check("--timeout", 0.001...3600)
    }

    func run() throws {
        let configuration = try common.load()
        let socket = configuration.stateDirectory + "/control.sock"
        try Loop.run { @Loop in
            let reply = try await LocalCoordinator.carryOut(
                OperatorCommand(.status, host: nil), at: socket, within: timeout.duration, isPatient: true)
            guard let reply, reply.state == .done else {
                throw CommandFailure.temporary("the coordinator at \(socket) does not reply")
            }
            let host = HostStatus(name: reply.host, json: Array(reply.text.utf8), isAlive: true)
            let ready = host.workers.count { $0.state == "ready" }
            let isReady = host.state == "running" && host.intake?.state == "ready" && ready > 0
            Console(json: common.json).show(
                .object([
                    "host": .string(host.host), "pid": .number(host.pid), "state": .string(host.state),
                    "ready": .bool(isReady), "workers": .number(host.workers.count),
                    "ready_workers": .number(ready),
                ]),
                "\(host.host) is \(isReady ? "ready" : host.state == "running" ? "not ready" : host.state): "
                    + "\(ready) of \(host.workers.count) workers ready\n")
            if !isReady, !alive { throw CommandFailure.failed() }
        }
    }
}
