import ControlChannel
import EventLoop
import PushModel
import Supervision
import Transport

/// This machine's coordinator, over its control socket.
@Loop final class LocalCoordinator {
    private let link: ControlLink<OperatorCommand, OperatorAnswer>
    private let bell = AsyncEvent()
    private var last: OperatorAnswer?
    private var hasEnded = false

    private init(_ stream: ByteStream) {
        link = ControlLink(stream)
        link.onMessage = { [unowned self] answer in
            last = answer
            bell.signal()
        }
        link.onEnd = { [unowned self] _ in
            hasEnded = true
            bell.signal()
        }
    }

    static func connect(_ path: String) async throws(CommandFailure) -> LocalCoordinator {
        do {
            return LocalCoordinator(try await Dial(.unix(path: path), timeout: .seconds(5)).connect())
        } catch {
            throw .temporary("no coordinator answers at \(path): \(error)")
        }
    }

    /// - Returns: the last answer that came; nil when none did.
    func carryOut(_ command: OperatorCommand, within limit: Duration, isPatient: Bool) async
        -> OperatorAnswer?
    {
        link.send(command)
        let deadline = ContinuousClock.now + limit
        while ContinuousClock.now < deadline, !hasEnded {
            if let last, last.isLast || !isPatient { break }
            await bell.wait(atMost: deadline - .now)
        }
        link.close()
        return last
    }
}
