import ArgumentParser
import EventLoop
import FarmLogging
import Simulator

struct SimulatorControlCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "control",
        abstract: "Controls a running simulator and reads its counters.",
        discussion: """
            Prints one JSON object. Uses simulator/control.sock in the state folder, or the
            socket that --control names. The commands:

            \(FaultCommand.manual)

            Example:
              pushfarm simulator control goaway 500
              pushfarm simulator control counters
            """)

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions

    /// The socket option belongs to the parent command, and may stand before or after this command's name. If
    /// both commands had the option, the parser would set only this command's option.
    @ParentCommand var simulator: SimulatorCommand

    @Argument(parsing: .remaining, help: ArgumentHelp("The command for the simulator.", valueName: "command"))
    var words: [String]

    func run() throws {
        let configuration = try common.load()
        let socket = simulator.control ?? configuration.stateDirectory + "/simulator/control.sock"
        let line = words.joined(separator: " ")
        let reply = try Loop.run { @Loop in
            do {
                return try await SimulatorControlClient.send(line, socket: socket)
            } catch {
                throw CommandFailure.temporary("no simulator replies on \(socket): \(error)")
            }
        }
        Terminal.write(reply + "\n", to: Terminal.standardOutput)
        if reply.hasPrefix("{\"ok\":false") { throw CommandFailure.failed() }
    }
}
