import APNs

/// One line of the control socket, or of a `--fault` flag.
package enum FaultCommand: Sendable {
    case change(FaultChange)
    /// GOAWAY now, on every connection.
    case goAwayNow(announced: Bool, reason: String?)
    /// A TCP reset now, on every connection.
    case cutNow
    /// A new limit of streams, on every connection and for later ones.
    case streams(UInt32)
    case token(String, TokenRule?)
    /// The end of every connection of the binary interface, now.
    case closeBinary(isReset: Bool, at: String?)
    case shutBinaryDown(at: String?)
    case feedback(FeedbackListChange)
    case counters
    case resetCounters
    case faults
    case help
    case stop

    package static let manual = """
        latency 20ms | 5ms-50ms | p50=20ms p99=300ms | off
            answers wait
        goaway N [announced] [reason=WORD] | now | off
            after N requests of a connection, or on all now
        refuse SHARE | off
            REFUSED_STREAM
        reset SHARE [code=N] [processed] | off
            RST_STREAM
        silence SHARE [processed] | off
            no answer at all
        cut N | now | off
            TCP reset after N requests, or now
        answer STATUS [TIME] [reason=WORD] [share=SHARE] [retry-after=SECONDS] | off
        rate N | off
            429 above N pushes a second, over all devices
        expired-token TIME | off
            403 ExpiredProviderToken for a while
        close-new TIME | on | off
            close connections right after the handshake
        streams N
            MAX_CONCURRENT_STREAMS, at once
        token HEX STATE [SINCE] | HEX forget
            what becomes of pushes to one token
        binary delay TIME | 300ms-700ms | p50=… p99=… | off
            the reply waits after a refused frame
        binary linger TIME | …
            the close waits after the reply
        binary refuse SHARE [status=N] | off
            frames are refused that deserve better
        binary lose SHARE [reset] | off
            no reply, only the close
        binary cut SHARE [bytes=N] [reset] | off
            some bytes of the reply, then the close
        binary trickle SHARE [pause=TIME] | off
            the reply comes byte by byte
        binary close N [share=SHARE] [delay=TIME] [reset] | now [reset] | off
            no reply after N frames of a connection, or on all now
        binary shutdown N [share=SHARE] | now | off
            status 10 after N frames of a connection, or on all now
        binary slow BYTES | off
            so much is read of a connection in a second
        binary handshake SHARE | off
            closed in the middle of the handshake
        binary accept TIME | …
            a connection waits before its handshake begins
        binary unknown-command status | close
            what an unknown command gets
        binary empty-token zero | named
            what the reply to an empty token names
        binary calm
            all of it as at the start; each takes at=ADDRESS
        feedback add HEX [SINCE] [topic=ID] | fill N [topic=ID] | clear
        feedback cut N [reset] | off
            the stream ends half a tuple behind N
        feedback stay on | off
            it stays open behind the last tuple
        feedback think TIME | off
            so long nothing comes, then the first tuple
        calm
            everything above off, but not token and streams
        counters | counters reset | faults | stop | help
        SHARE is 0.05 or 5%; TIME is 500ms, 10s, 2m or 1h.
        """

    /// - Parameter now: milliseconds since 1970.
    package init(_ line: String, now: Int64) throws(SimulatorError) {
        var words = FaultWords(line)
        let name = try words.next("a command; say help for a list")
        switch name {
        case "goaway" where words.take("now"):
            self = .goAwayNow(announced: words.take("announced"), reason: try words.value(of: "reason"))
        case "cut" where words.take("now"): self = .cutNow
        case "streams": self = .streams(UInt32(try words.count(in: 0...Int(Int32.max))))
        case "token": self = try Self.token(&words, now: now)
        case "binary": self = try Self.binary(&words)
        case "feedback": self = try Self.feedback(&words, now: now)
        case "counters": self = words.take("reset") ? .resetCounters : .counters
        case "faults": self = .faults
        case "help": self = .help
        case "stop": self = .stop
        default: self = .change(try FaultChange(name, &words, now: now))
        }
        try words.end()
    }

    private static func binary(_ words: inout FaultWords) throws(SimulatorError) -> FaultCommand {
        let address = try words.value(of: "at")
        let name = try words.next("a command of the binary interface; say help for a list")
        switch name {
        case "close" where words.take("now"):
            return .closeBinary(isReset: words.take("reset"), at: address)
        case "shutdown" where words.take("now"): return .shutBinaryDown(at: address)
        default: return .change(FaultChange(binary: try Change(name, &words), at: address))
        }
    }

    private static func feedback(
        _ words: inout FaultWords, now: Int64
    ) throws(SimulatorError) -> FaultCommand {
        let name = try words.next("a command of the feedback service; say help for a list")
        if let change = try Change<FeedbackFaults>(name, &words) {
            return .change(FaultChange(feedback: change))
        }
        return .feedback(try FeedbackListChange(name, &words, now: now))
    }

    private static func token(_ words: inout FaultWords, now: Int64) throws(SimulatorError) -> FaultCommand {
        let token = try words.next("a token")
        if words.take("forget") { return .token(token, nil) }
        let state = try words.next("a state")
        let since = try words.since(now: now)
        guard let rule = TokenRule(word: state, since: since) else {
            throw .unusable("no state \"\(state)\"; there are \(TokenRule.words.joined(separator: ", "))")
        }
        return .token(token, rule)
    }
}
