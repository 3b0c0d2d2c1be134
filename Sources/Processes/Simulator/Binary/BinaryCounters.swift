import APNs
import PushModel

/// Counters of the binary interface since its start or the last reset.
package struct BinaryCounters: Sendable {
    package internal(set) var connections = 0
    /// The maximum number of open connections so far.
    package internal(set) var mostConnections = 0
    /// Connections that were refused because of their certificate, or by a fault.
    package internal(set) var closedAtOnce = 0
    /// Frames that arrived completely.
    package internal(set) var frames = 0
    package internal(set) var accepted = 0
    package internal(set) var discarded = 0
    package internal(set) var byStatus: [UInt8: Int] = [:]
    /// Accepted payloads that are not JSON objects.
    package internal(set) var warnings = 0
    package internal(set) var replies = 0
    package internal(set) var lostReplies = 0
    /// Replies that were sent only in part.
    package internal(set) var cutReplies = 0
    package internal(set) var shutdowns = 0
    /// Connections that the gateway closed without a reply, although no frame was refused.
    package internal(set) var causelessCloses = 0
    /// Connections that ended in the middle of a frame.
    package internal(set) var halfFrames = 0
    /// Hashes of the accepted tokens; nil if tokens are not counted.
    private var tokens: Set<UInt64>?

    init(countsDistinct: Bool) {
        if countsDistinct { tokens = [] }
    }

    package var refused: Int { byStatus.values.reduce(0, +) }
    package var distinctTokens: Int? { tokens?.count }

    mutating func reset() { self = BinaryCounters(countsDistinct: tokens != nil) }

    mutating func count(_ outcome: BinaryConnectionState.Outcome) {
        frames += 1
        switch outcome {
        case .accepted: accepted += 1
        case .refused(let status, _): byStatus[status.rawValue, default: 0] += 1
        case .discarded: discarded += 1
        }
    }

    mutating func accepted(_ token: UnsafeRawBufferPointer) {
        tokens?.insert(XXH64.hash(token, seed: 0))
    }

    /// Writes the counters as a JSON object.
    ///
    /// - Parameter delayed: `now` is the number of connections that are not accepted yet, and `most` is the maximum of
    ///   this number so far.
    func json(
        openConnections: Int, failedHandshakes: Int, brokenHandshakes: Int, delayed: (now: Int, most: Int),
        perSecond: Int
    ) -> String {
        JSONText.object { text in
            text.member("frames", frames)
            text.member("accepted", accepted)
            text.member("refused", refused)
            text.member("discarded", discarded)
            text.member("by_status") { $0.members(byStatus) }
            text.member("warnings", warnings)
            text.member("replies", replies)
            text.member("lost_replies", lostReplies)
            text.member("cut_replies", cutReplies)
            text.member("shutdowns", shutdowns)
            text.member("causeless_closes", causelessCloses)
            text.member("half_frames", halfFrames)
            text.member("connections", connections)
            text.member("open_connections", openConnections)
            text.member("most_connections", mostConnections)
            text.member("closed_at_once", closedAtOnce)
            text.member("failed_handshakes", failedHandshakes)
            text.member("broken_handshakes", brokenHandshakes)
            text.member("accepting", delayed.now)
            text.member("most_accepting", delayed.most)
            text.member("per_second", perSecond)
            if let distinctTokens { text.member("distinct_tokens", distinctTokens) }
        }
    }
}
