import APNs
import EventLoop
import PushModel

/// Commands of the control socket and of the start.
extension SimulatedGateway {
    /// Carries a command out.
    /// - Returns: a JSON object on one line.
    package func carryOut(_ command: FaultCommand) throws(SimulatorError) -> String {
        switch command {
        case .change(let change):
            try check(change.address)
            change.apply(to: &faults)
            binary?.faultsChanged()
        case .goAwayNow(let announced, let reason):
            for connection in connections.values { connection.goAway(announced: announced, reason: reason) }
        case .cutNow:
            for connection in connections.values { connection.cut() }
        case .streams(let limit):
            streamLimit = limit
            for connection in connections.values { connection.setLimit(limit) }
        case .token(let token, let rule):
            guard judge.table.set(token, rule) else { throw .unusable("the token is not hexadecimal") }
        case .closeBinary(let isReset, let address):
            try check(address)
            binary?.closeNow(isReset: isReset, at: address)
        case .shutBinaryDown(let address):
            try check(address)
            binary?.shutDownNow(at: address)
        case .feedback(let command): carryOut(command)
        case .counters: return countersJSON()
        case .resetCounters:
            counters.reset()
            binary?.counters.reset()
            feedback?.resetCounters()
        case .faults: return faults.json
        case .help:
            return JSONText.object {
                $0.member("ok", true)
                $0.member("help", FaultCommand.manual)
            }
        case .stop: onStop()
        }
        return "{\"ok\":true}"
    }

    private func check(_ address: String?) throws(SimulatorError) {
        guard let address, !options.hosts.contains(address) else { return }
        throw .unusable("nobody listens on \(address); there are \(options.hosts.joined(separator: ", "))")
    }

    private func carryOut(_ command: FeedbackListChange) {
        switch command {
        case .add(let token, let time, let topic): feedbackTable.add(token, time: time, topic: topic)
        case .fill(let count, let topic):
            feedbackTable.fill(
                count, topic: topic, now: UInt32(clamping: WallClock.milliseconds / 1000), random: &random)
        case .clear: feedbackTable.clear()
        }
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
