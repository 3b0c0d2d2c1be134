import PushModel

/// Counters of the gateway since its start or the last reset.
package struct Counters: Sendable {
    /// Requests that arrived completely.
    package internal(set) var requests = 0
    /// Requests with status 200. Requests whose response was lost by a fault are included.
    package internal(set) var accepted = 0
    package internal(set) var byStatus: [UInt16: Int] = [:]
    package internal(set) var byReason: [String: Int] = [:]
    /// Accepted payloads that are not JSON objects.
    package internal(set) var warnings = 0
    package internal(set) var refusedStreams = 0
    package internal(set) var resetStreams = 0
    package internal(set) var silentStreams = 0
    /// Streams that were not processed, because they are above the last stream that a GOAWAY named.
    package internal(set) var unprocessedStreams = 0
    /// Streams that the client reset before it got the response.
    package internal(set) var abandonedStreams = 0
    package internal(set) var connections = 0
    package internal(set) var closedAtOnce = 0
    package internal(set) var goAways = 0
    package internal(set) var cuts = 0
    package internal(set) var protocolErrors = 0
    /// The distinct tokens and ids of accepted pushes; nil if distinct values are not counted.
    package private(set) var distinct: Distinct?

    /// Hashes of the tokens and ids of accepted pushes.
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

    mutating func count(_ reply: Reply) {
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
    func json(
        openConnections: Int, openStreams: Int, failedHandshakes: Int, tokensVerified: Int, perSecond: Int,
        binary: String?, feedback: String?
    ) -> String {
        JSONText.object { text in
            text.member("requests", requests)
            text.member("accepted", accepted)
            text.member("by_status") { text in
                if accepted > 0 { text.member("200", accepted) }
                text.members(byStatus)
            }
            text.member("by_reason") { $0.members(byReason) }
            text.member("warnings", warnings)
            text.member("refused_streams", refusedStreams)
            text.member("reset_streams", resetStreams)
            text.member("silent_streams", silentStreams)
            text.member("unprocessed_streams", unprocessedStreams)
            text.member("abandoned_streams", abandonedStreams)
            text.member("connections", connections)
            text.member("open_connections", openConnections)
            text.member("open_streams", openStreams)
            text.member("closed_at_once", closedAtOnce)
            text.member("failed_handshakes", failedHandshakes)
            text.member("goaways", goAways)
            text.member("cuts", cuts)
            text.member("protocol_errors", protocolErrors)
            text.member("per_second", perSecond)
            text.member("tokens_verified", tokensVerified)
            if let distinct {
                text.member("distinct_tokens", distinct.tokenCount)
                text.member("repeated_ids", distinct.repeatedIDs)
            }
            if let binary { text.member("binary", json: binary.utf8) }
            if let feedback { text.member("feedback", json: feedback.utf8) }
        }
    }
}

extension JSONText {
    /// Writes one member for each counter, sorted by its key.
    mutating func members<Counted: Comparable>(_ counts: [Counted: Int]) {
        for (counted, count) in counts.sorted(by: { $0.key < $1.key }) { member("\(counted)", count) }
    }
}
