import EventLoop
import HTTP2

/// Sends a connection's GOAWAY, at once or after an announcement, and decides which requests are still processed.
@Loop final class GoAwaySender {
    /// The time between the announcement and the GOAWAY that names the last stream.
    private static let notice = Duration.milliseconds(100)

    private let session: ServerSession
    /// The highest stream that is processed.
    private var lastStream = Int32.max
    private var newestHandled: Int32 = 0
    private var timer: Timer?

    init(of session: ServerSession) { self.session = session }

    var hasBegun: Bool { lastStream != .max || timer != nil }

    /// Returns whether the request on this stream is processed. The last stream that the final GOAWAY names is not
    /// lower than the stream of any processed request.
    func admits(_ stream: Int32) -> Bool {
        guard stream <= lastStream else { return false }
        newestHandled = max(newestHandled, stream)
        return true
    }

    /// - Parameters:
    ///   - isAnnounced: whether a GOAWAY that names no last stream is sent first.
    ///   - hasOutput: called when the session has output.
    func begin(isAnnounced: Bool, reason: String?, hasOutput: @escaping @Loop () -> Void) {
        if isAnnounced {
            session.announceGoAway()
            timer = Timer { [unowned self] in
                send(reason)
                hasOutput()
            }
            timer?.start(after: Self.notice)
        } else {
            send(reason)
        }
        hasOutput()
    }

    private func send(_ reason: String?) {
        lastStream = newestHandled
        let text = reason.map { "{\"reason\":\"\($0)\"}" } ?? ""
        Array(text.utf8).withUnsafeBytes { session.goAway(lastStream: lastStream, debug: $0) }
    }
}
