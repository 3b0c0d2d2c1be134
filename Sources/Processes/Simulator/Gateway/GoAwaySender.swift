import EventLoop
import HTTP2

/// Sends a connection's GOAWAY, at once or after an announcement, and decides which requests are still processed.
@Loop final class GoAwaySender {
    /// The time between the announcement and the GOAWAY that names the last stream.
    private static let notice = Duration.milliseconds(100)

    private let session: ServerSession
    /// Requests on streams above this stream are not processed.
    private var lastStream = Int32.max
    private var newestHandled: Int32 = 0
    private var timer: Timer?

    init(of session: ServerSession) { self.session = session }

    var hasBegun: Bool { lastStream != .max || timer != nil }

    /// Returns whether the request on this stream is processed. The final GOAWAY names the highest stream whose request was
    /// processed.
    func admits(_ stream: Int32) -> Bool {
        guard stream <= lastStream else { return false }
        newestHandled = max(newestHandled, stream)
        return true
    }

    /// - Parameters:
    ///   - isAnnounced: whether a GOAWAY without a last stream is sent first, as an announcement.
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
