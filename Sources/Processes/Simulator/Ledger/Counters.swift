import PushModel

/// What the gateway has counted since its start, or since the counters were last reset.
package struct Counters: Sendable {
    /// Requests that came whole.
    package internal(set) var requests = 0
    /// Answered with 200. Those whose answer was then lost on purpose are among them.
    package internal(set) var accepted = 0
    package internal(set) var byStatus: [UInt16: Int] = [:]
    package internal(set) var byReason: [String: Int] = [:]
    /// Accepted payloads that are no JSON objects.
    package internal(set) var warnings = 0
    package internal(set) var refusedStreams = 0
    package internal(set) var resetStreams = 0
    package internal(set) var silentStreams = 0
    /// Above the last stream of a GOAWAY.
    package internal(set) var unprocessedStreams = 0
    /// Streams that the client reset before it had its answer.
    package internal(set) var abandonedStreams = 0
    package internal(set) var connections = 0
    package internal(set) var closedAtOnce = 0
    package internal(set) var goAways = 0
    package internal(set) var cuts = 0
    package internal(set) var protocolErrors = 0
    /// nil unless they are counted.
    package private(set) var distinct: Distinct?

    /// Tokens and ids that came with an accepted push, by their hashes.
    package struct Distinct: Sendable {
        private var tokens: Set<UInt64> = []
        private var ids: Set<UInt64> = []
        package private(set) var repeatedIDs = 0

        package var tokenCount: Int { tokens.count }

        mutating func add(token: UnsafeRawBufferPointer, id: UnsafeRawBufferPointer) {
            tokens.insert(XXH64.hash(token, seed: 0))
            if !ids.insert(XXH64.hash(id, seed: 0)).inserted { repeatedIDs += 1 }
        }
    }

    init(countsDistinct: Bool) {
        if countsDistinct { distinct = Distinct() }
    }

    mutating func reset() {
        self = Counters(countsDistinct: distinct != nil)
    }

    mutating func answered(_ reply: Reply) {
        if reply.status == 200 {
            accepted += 1
        } else {
            byStatus[reply.status, default: 0] += 1
            byReason[reply.reason ?? "none", default: 0] += 1
        }
    }

    mutating func accepted(token: UnsafeRawBufferPointer, id: UnsafeRawBufferPointer) {
        distinct?.add(token: token, id: id)
    }
}

extension Counters {
    /// One JSON object on one line.
    func json(
        openConnections: Int, openStreams: Int, failedHandshakes: Int, tokensVerified: Int, perSecond: Int,
        binary: String?, feedback: String?
    ) -> String {
        var statuses = byStatus.sorted { $0.key < $1.key }.map { ("\($0.key)", $0.value) }
        if accepted > 0 { statuses.insert(("200", accepted), at: 0) }
        var members = [
            "\"requests\":\(requests)", "\"accepted\":\(accepted)",
            "\"by_status\":\(Self.object(statuses))",
            "\"by_reason\":\(Self.object(byReason.sorted { $0.key < $1.key }))",
            "\"warnings\":\(warnings)", "\"refused_streams\":\(refusedStreams)",
            "\"reset_streams\":\(resetStreams)",
            "\"silent_streams\":\(silentStreams)", "\"unprocessed_streams\":\(unprocessedStreams)",
            "\"abandoned_streams\":\(abandonedStreams)", "\"connections\":\(connections)",
            "\"open_connections\":\(openConnections)", "\"open_streams\":\(openStreams)",
            "\"closed_at_once\":\(closedAtOnce)", "\"failed_handshakes\":\(failedHandshakes)",
            "\"goaways\":\(goAways)", "\"cuts\":\(cuts)", "\"protocol_errors\":\(protocolErrors)",
            "\"per_second\":\(perSecond)", "\"tokens_verified\":\(tokensVerified)",
        ]
        if let distinct {
            members.append("\"distinct_tokens\":\(distinct.tokenCount)")
            members.append("\"repeated_ids\":\(distinct.repeatedIDs)")
        }
        if let binary { members.append("\"binary\":\(binary)") }
        if let feedback { members.append("\"feedback\":\(feedback)") }
        return "{" + members.joined(separator: ",") + "}"
    }

    /// Keys are words without anything to escape: status numbers, and reasons, ours or of a checked command.
    private static func object(_ members: [(String, Int)]) -> String {
        "{" + members.map { "\"\($0)\":\($1)" }.joined(separator: ",") + "}"
    }

    private static func object(_ members: [(key: String, value: Int)]) -> String {
        object(members.map { ($0.key, $0.value) })
    }
}
