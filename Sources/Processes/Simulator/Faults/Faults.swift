import PushModel

/// The gateway's faults and delays. All faults are off at the start; ``FaultCommand`` changes them.
package struct Faults: Hashable, Sendable {
    /// A connection gets a GOAWAY after a number of requests.
    package struct GoAway: Hashable, Sendable {
        var every: Int
        /// Whether the gateway first sends a GOAWAY that names no last stream, and 100 ms later the GOAWAY that names
        /// the last stream.
        var announced: Bool
        var reason: String?
    }

    /// A share of the requests get no response.
    package struct Loss: Hashable, Sendable {
        var share: Double = 0
        /// Whether only the response is lost. The request is then judged as usual, and the ledger contains its status.
        var processed = false
    }

    /// The streams of a share of the requests are reset.
    package struct Reset: Hashable, Sendable {
        var share: Double
        var code: UInt32
        var processed: Bool
    }
    /// A share of the requests get the same response for some time.
    package struct ImposedResponse: Hashable, Sendable {
        var reply: Reply
        var share: Double
        /// When the fault ends, in milliseconds since 1970; `.max` means that it lasts until it is switched off.
        var until: Int64
    }

    package var latency: Latency = .none
    package var goAway: GoAway?
    /// The share of requests that are refused with REFUSED_STREAM.
    package var refused: Double = 0
    package var reset: Reset?
    package var silence = Loss()
    /// The number of requests after which a connection gets a TCP reset; nil means no reset.
    package var cutEvery: Int?
    package var imposedResponse: ImposedResponse?
    /// The maximum number of pushes per second to all tokens together. Further pushes get status 429.
    package var rate: Int?
    /// New connections are closed right after the handshake until this time, in milliseconds since 1970.
    package var closesNewUntil: Int64 = 0

    package var binary = AddressedFaults()
    package var feedback = FeedbackFaults()

    package init() {}

    /// A fault of one stream, which replaces the response.
    enum StreamFault: Hashable {
        case refused
        case reset(Reset)
        case silent(processed: Bool)
    }

    func streamFault(_ random: inout SeededRandom) -> StreamFault? {
        if random.happens(refused) { return .refused }
        if let reset, random.happens(reset.share) { return .reset(reset) }
        if random.happens(silence.share) { return .silent(processed: silence.processed) }
        return nil
    }

    /// The response that the fault ``ImposedResponse`` gives to a request at the time `now`, in milliseconds since 1970.
    func imposed(at now: Int64, _ random: inout SeededRandom) -> Reply? {
        guard let imposedResponse, now < imposedResponse.until,
            imposedResponse.share >= 1 || random.happens(imposedResponse.share)
        else {
            return nil
        }
        return imposedResponse.reply
    }
}

extension Faults {
    var json: String {
        JSONText.object { text in
            text.member("ok", true)
            if latency != .none { text.member("latency", "\(latency)") }
            if let goAway {
                text.member("goaway") {
                    $0.member("every", goAway.every)
                    $0.member("announced", goAway.announced)
                    if let reason = goAway.reason { $0.member("reason", reason) }
                }
            }
            if refused > 0 { text.member("refuse", refused) }
            if let reset, reset.share > 0 {
                text.member("reset") {
                    $0.member("share", reset.share)
                    $0.member("code", reset.code)
                    $0.member("processed", reset.processed)
                }
            }
            if silence.share > 0 {
                text.member("silence") {
                    $0.member("share", silence.share)
                    $0.member("processed", silence.processed)
                }
            }
            if let cutEvery { text.member("cut", cutEvery) }
            if let imposedResponse { text.member("answer", object: imposedResponse.write) }
            if let rate { text.member("rate", rate) }
            if closesNewUntil == .max {
                text.member("close_new", true)
            } else if closesNewUntil > 0 {
                text.member("close_new") { $0.member("until", closesNewUntil) }
            }
            if !binary.isCalm { text.member("binary", object: binary.write) }
            if let cut = feedback.cut {
                text.member("feedback_cut") {
                    $0.member("after", cut.after)
                    $0.member("reset", cut.isReset)
                }
            }
            if feedback.stays { text.member("feedback_stay", true) }
            if let time = feedback.thinks { text.member("feedback_think_ms", time) }
        }
    }
}

extension Faults.ImposedResponse {
    fileprivate func write(to text: inout JSONText) {
        text.member("status", reply.status)
        if let reason = reply.reason { text.member("reason", reason) }
        text.member("share", share)
        if until != .max { text.member("until", until) }
    }
}
