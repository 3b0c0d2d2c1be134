/// What the gateway does wrong, or not at once. All off to begin with; changed by ``FaultCommand``.
package struct Faults: Hashable, Sendable {
    /// GOAWAY on a connection after so many requests.
    package struct GoAway: Hashable, Sendable {
        var every: Int
        /// First one that names no last stream, the exact one a little later.
        var announced: Bool
        /// The reason in its debug data; nil: none.
        var reason: String?
    }

    /// Streams that are reset, or get no answer at all, for a share of the requests.
    package struct Loss: Hashable, Sendable {
        var share: Double = 0
        /// The request counts as accepted all the same (status in the ledger), only its answer is lost.
        var processed = false
    }

    /// Every request, or a share of them, gets the same answer for a while.
    package struct Phase: Hashable, Sendable {
        var reply: Reply
        var share: Double
        /// Milliseconds since 1970; `.max`: until it is switched off.
        var until: Int64
    }

    package var latency: Latency = .none
    package var goAway: GoAway?
    /// Share of requests that are refused with REFUSED_STREAM.
    package var refused: Double = 0
    package var reset = Loss()
    /// The code with which streams are reset.
    package var resetCode: UInt32 = 2
    package var silence = Loss()
    /// A TCP reset of a connection after so many requests.
    package var cutEvery: Int?
    package var phase: Phase?
    /// Pushes a second to all devices together, above which each gets 429.
    package var rate: Int?
    /// Connections are closed right after the handshake until then, milliseconds since 1970.
    package var closesNewUntil: Int64 = 0

    package var binary = AddressedFaults()
    package var feedback = FeedbackFaults()

    package init() {}

    /// What happens to one request instead of an answer.
    enum Mishap: Hashable {
        case refused
        case reset(code: UInt32, processed: Bool)
        case silent(processed: Bool)
    }

    func mishap(_ random: inout RandomSource) -> Mishap? {
        if random.happens(refused) { return .refused }
        if random.happens(reset.share) { return .reset(code: resetCode, processed: reset.processed) }
        if random.happens(silence.share) { return .silent(processed: silence.processed) }
        return nil
    }

    /// The answer that a phase imposes on a request that came at `now`, milliseconds since 1970.
    func imposed(at now: Int64, _ random: inout RandomSource) -> Reply? {
        guard let phase, now < phase.until, phase.share >= 1 || random.happens(phase.share) else {
            return nil
        }
        return phase.reply
    }
}

extension Faults {
    /// What is switched on, as a JSON object on one line.
    var json: String {
        var members = ["\"ok\":true"]
        func add(_ name: String, _ value: some CustomStringConvertible) {
            members.append("\"\(name)\":\(value)")
        }
        if latency != .none { add("latency", TextBuffer.quoted("\(latency)")) }
        if let goAway {
            let reason = goAway.reason.map { ",\"reason\":\(TextBuffer.quoted($0))" } ?? ""
            add("goaway", "{\"every\":\(goAway.every),\"announced\":\(goAway.announced)\(reason)}")
        }
        if refused > 0 { add("refuse", refused) }
        if reset.share > 0 {
            add("reset", "{\"share\":\(reset.share),\"code\":\(resetCode),\"processed\":\(reset.processed)}")
        }
        if silence.share > 0 {
            add("silence", "{\"share\":\(silence.share),\"processed\":\(silence.processed)}")
        }
        if let cutEvery { add("cut", cutEvery) }
        if let phase {
            let reason = phase.reply.reason.map { ",\"reason\":\(TextBuffer.quoted($0))" } ?? ""
            let until = phase.until == .max ? "" : ",\"until\":\(phase.until)"
            add("answer", "{\"status\":\(phase.reply.status)\(reason),\"share\":\(phase.share)\(until)}")
        }
        if let rate { add("rate", rate) }
        if closesNewUntil > 0 {
            add("close_new", closesNewUntil == .max ? "true" : "{\"until\":\(closesNewUntil)}")
        }
        if !binary.isCalm { add("binary", binary.json) }
        if let cut = feedback.cut { add("feedback_cut", "{\"after\":\(cut.after),\"reset\":\(cut.isReset)}") }
        if feedback.stays { add("feedback_stay", true) }
        if let time = feedback.thinks { add("feedback_think_ms", time) }
        return "{" + members.joined(separator: ",") + "}"
    }
}
