import EventLoop
import StoreProtocol

/// Pushes device inputs to an app's list, and waits while the list is long.
@Loop struct DeviceInputPusher {
    let client: FarmClient
    let app: String
    /// How long to wait until the farm has taken enough inputs.
    let timeout: Duration

    /// The pusher waits while the list has this many inputs.
    private static let backlog = 50_000
    private static let portion = 500

    static let interrupted = CommandFailure.temporary("interrupted; run the same command again to continue")

    /// - Parameter isEnded: whether the operator has interrupted the command.
    /// - Throws: a temporary failure when the command must be run again.
    mutating func push(_ inputs: [[UInt8]], until isEnded: () -> Bool) async throws(CommandFailure) {
        var rest = inputs[...]
        while !rest.isEmpty {
            try await waitForRoom(isEnded)
            let part = Array(rest.prefix(Self.portion))
            _ = try await client.call(PushInputs(.devices, part), app)
            rest = rest.dropFirst(part.count)
        }
    }

    private func waitForRoom(_ isEnded: () -> Bool) async throws(CommandFailure) {
        let deadline = ContinuousClock.now + timeout
        while true {
            let count = try await client.call(CountInputs(.devices), app)
            if count < Self.backlog { return }
            guard !isEnded() else { throw Self.interrupted }
            guard ContinuousClock.now < deadline else {
                throw .temporary(
                    "\(app) has \(Figures.grouped(count)) device inputs that the farm has not taken; run the same "
                        + "command again later")
            }
            do { try await Loop.sleep(for: .milliseconds(100)) } catch { throw Self.interrupted }
        }
    }
}
