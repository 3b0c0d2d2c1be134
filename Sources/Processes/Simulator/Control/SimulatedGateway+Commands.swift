import EventLoop
import PushModel

/// Executes commands of the control socket and of the start options.
extension SimulatedGateway {
    /// Executes a command.
    /// - Returns: a JSON object on one line.
    @discardableResult
    package func carryOut(_ command: FaultCommand) throws(SimulatorError) -> String {
        if let address = command.address, !options.hosts.contains(address) {
            let known = options.hosts.joined(separator: ", ")
            throw .unusable("the simulator does not listen on \(address); its addresses are \(known)")
        }
        return command.action(self) ?? "{\"ok\":true}"
    }

    func reply(to line: String) -> String {
        do throws(SimulatorError) {
            return try carryOut(FaultCommand(line, now: WallClock.milliseconds))
        } catch {
            return JSONText.object {
                $0.member("ok", false)
                $0.member("error", error.description)
            }
        }
    }
}
