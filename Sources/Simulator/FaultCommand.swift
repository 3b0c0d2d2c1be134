import APNs

/// One line of the control socket, or of a `--fault` flag: what is to change, or to be told.
package enum FaultCommand: Hashable, Sendable {
    case change(FaultChange)
    /// GOAWAY now, on every connection.
    case goAwayNow(announced: Bool, reason: String?)
    /// A TCP reset now, on every connection.
    case cutNow
    /// A new limit of streams, on every connection and for later ones.
    case streams(UInt32)
    case token(String, TokenRule?)
    case counters
    case resetCounters
    case faults
    case help
    case stop

    package static let manual = """
        latency 20ms | 5ms-50ms | p50=20ms p99=300ms | off   answers wait
        goaway N [announced] [reason=WORD] | now | off       after N requests of a connection, or on all now
        refuse SHARE | off                                   REFUSED_STREAM
        reset SHARE [code=N] [processed] | off               RST_STREAM
        silence SHARE [processed] | off                      no answer at all
        cut N | now | off                                    TCP reset after N requests, or now
        answer STATUS [TIME] [reason=WORD] [share=SHARE] [retry-after=SECONDS] | off
        expired-token TIME | off                             403 ExpiredProviderToken for a while
        close-new TIME | on | off                            close connections right after the handshake
        streams N                                            MAX_CONCURRENT_STREAMS, at once
        token HEX STATE [SINCE] | HEX forget                 what becomes of pushes to one token
        calm                                                 everything above off, but not token and streams
        counters | counters reset | faults | stop | help
        SHARE is 0.05 or 5%; TIME is 500ms, 10s, 2m or 1h.
        """

    /// - Parameter now: milliseconds since 1970.
    package init(_ line: String, now: Int64) throws(SimulatorError) {
        var words = CommandWords(line)
        let name = try words.next("a command; say help for a list")
        switch name {
        case "goaway": self = try Self.goAway(&words)
        case "cut" where words.take("now"): self = .cutNow
        case "streams": self = .streams(UInt32(try words.count(in: 0...Int(Int32.max))))
        case "token": self = try Self.token(&words, now: now)
        case "counters": self = words.take("reset") ? .resetCounters : .counters
        case "faults": self = .faults
        case "help": self = .help
        case "stop": self = .stop
        default: self = .change(try FaultChange(name, &words, now: now))
        }
        try words.end()
    }

    private static func goAway(_ words: inout CommandWords) throws(SimulatorError) -> FaultCommand {
        if words.take("off") { return .change(.goAway(nil)) }
        let isNow = words.take("now")
        let every = isNow ? 0 : try words.count(in: 1...Int(Int32.max))
        let announced = words.take("announced")
        let reason = try words.value(of: "reason")
        if isNow { return .goAwayNow(announced: announced, reason: reason) }
        return .change(.goAway(Faults.GoAway(every: every, announced: announced, reason: reason)))
    }

    private static func token(_ words: inout CommandWords, now: Int64) throws(SimulatorError) -> FaultCommand
    {
        let token = try words.next("a token")
        if words.take("forget") { return .token(token, nil) }
        let state = try words.next("a state")
        let since = words.isEmpty ? now / 1000 : Int64(try words.count(in: 0...Int(UInt32.max)))
        guard let rule = TokenRule(word: state, since: since) else {
            throw .unusable("no state \"\(state)\"; there are \(TokenRule.words.joined(separator: ", "))")
        }
        return .token(token, rule)
    }
}
