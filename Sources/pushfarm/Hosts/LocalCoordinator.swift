import ControlChannel
import EventLoop
import PushModel
import Supervision
import Transport

/// This machine's coordinator, reached over its control socket.
@Loop enum LocalCoordinator {
    /// - Returns: the last reply, or nil when no reply came.
    static func carryOut(
        _ command: OperatorCommand, at path: String, within limit: Duration, isPatient: Bool
    ) async throws(CommandFailure) -> OperatorReply? {
        let stream: ByteStream
        do { stream = try await Dial(.unix(path: path), timeout: .seconds(5)).connect() } catch {
            throw .temporary("no coordinator replies at \(path): \(error)")
        }
        let link = ControlLink<OperatorCommand, OperatorReply>(stream)
        let news = AsyncEvent()
        var (last, hasEnded): (OperatorReply?, Bool) = (nil, false)
        link.onMessage = { reply in
            last = reply
            news.signal()
        }
        link.onEnd = { _ in
            hasEnded = true
            news.signal()
        }
        link.send(command)
        let deadline = ContinuousClock.now + limit
        while ContinuousClock.now < deadline, !hasEnded {
            if let last, last.isLast || !isPatient { break }
            await news.wait(atMost: deadline - .now)
        }
        link.close()
        return last
    }
}
