import APNs
import PushModel

/// What the binary interface has counted since its start, or since the counters were last reset.
package struct BinaryCounters: Sendable {
    package internal(set) var connections = 0
    /// The most that were open at a time.
    package internal(set) var mostConnections = 0
    /// For their certificate, or by a fault.
    package internal(set) var closedAtOnce = 0
    /// Frames that came whole.
    package internal(set) var frames = 0
    package internal(set) var accepted = 0
    package internal(set) var discarded = 0
    package internal(set) var byStatus: [UInt8: Int] = [:]
    /// Accepted payloads that are no JSON objects.
    package internal(set) var warnings = 0
    package internal(set) var replies = 0
    package internal(set) var lostReplies = 0
    /// Of which some bytes were sent.
    package internal(set) var cutReplies = 0
    package internal(set) var shutdowns = 0
    /// Without a refused frame.
    package internal(set) var causelessCloses = 0
    /// Connections that ended in the middle of a frame.
    package internal(set) var halfFrames = 0
    /// Hashes of the tokens that were accepted; nil unless they are counted.
    private var tokens: Set<UInt64>?

    init(countsDistinct: Bool) {
        if countsDistinct { tokens = [] }
    }

    package var refused: Int { byStatus.values.reduce(0, +) }
    package var distinctTokens: Int? { tokens?.count }

    mutating func reset() { self = BinaryCounters(countsDistinct: tokens != nil) }

    mutating func count(_ outcome: BinaryCourse.Outcome) {
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

    /// A JSON object.
    ///
    /// - Parameter delayed: connections that are not accepted yet, and the most that were not at a time.
    func json(
        openConnections: Int, failedHandshakes: Int, brokenHandshakes: Int, delayed: (now: Int, most: Int),
        perSecond: Int
    ) -> String {
        let statuses = byStatus.sorted { $0.key < $1.key }.map { "\"\($0.key)\":\($0.value)" }
        var members = [
            "\"frames\":\(frames)", "\"accepted\":\(accepted)", "\"refused\":\(refused)",
            "\"discarded\":\(discarded)", "\"by_status\":{\(statuses.joined(separator: ","))}",
            "\"warnings\":\(warnings)", "\"replies\":\(replies)", "\"lost_replies\":\(lostReplies)",
            "\"cut_replies\":\(cutReplies)",
            "\"shutdowns\":\(shutdowns)", "\"causeless_closes\":\(causelessCloses)",
            "\"half_frames\":\(halfFrames)", "\"connections\":\(connections)",
            "\"open_connections\":\(openConnections)", "\"most_connections\":\(mostConnections)",
            "\"closed_at_once\":\(closedAtOnce)",
            "\"failed_handshakes\":\(failedHandshakes)", "\"broken_handshakes\":\(brokenHandshakes)",
            "\"accepting\":\(delayed.now)", "\"most_accepting\":\(delayed.most)",
            "\"per_second\":\(perSecond)",
        ]
        if let distinctTokens { members.append("\"distinct_tokens\":\(distinctTokens)") }
        return "{" + members.joined(separator: ",") + "}"
    }
}
