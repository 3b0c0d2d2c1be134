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
