import APNs
import BinaryProtocol
import EventLoop
import PushModel

/// A parsed line of the control socket, or of a `--fault` flag, that can be executed.
package struct FaultCommand {
    /// Executes the command. The result is the reply, a JSON object on one line; nil means that the command succeeded
    /// and has no data to return.
    typealias Action = @Loop (SimulatedGateway) -> String?

    let action: Action
    /// The address of the binary interface in the command; nil if the command names no address.
    let address: String?

    package static let manual = """
        latency 20ms | 5ms-50ms | p50=20ms p99=300ms | off
            delays each response
        goaway N [announced] [reason=WORD] | now | off
            sends GOAWAY after N requests of a connection, or on all connections now
        refuse SHARE | off
            refuses a share of the requests with REFUSED_STREAM
        reset SHARE [code=N] [processed] | off
            ends a share of the requests with RST_STREAM; processed: judges them first
        silence SHARE [processed] | off
            sends no response to a share of the requests; processed: judges them
        cut N | now | off
            resets a TCP connection after N requests, or all connections now
        answer STATUS [TIME] [reason=WORD] [share=SHARE] [retry-after=SECONDS] | off
            responds with STATUS to a share of the requests, for TIME
        rate N | off
            responds 429 to pushes above N a second, counted for all devices together
        expired-token TIME | off
            responds 403 ExpiredProviderToken to all requests for TIME
        close-new TIME | on | off
            closes new connections right after the handshake
        streams N
            changes SETTINGS_MAX_CONCURRENT_STREAMS at once
        token HEX STATE [SINCE] | HEX forget
            sets or forgets the state of one device token
        binary delay TIME | 300ms-700ms | p50=… p99=… | off
            delays the reply to a refused frame
        binary linger TIME | …
            delays the close of the connection after the reply
        binary refuse SHARE [status=N] | off
            refuses a share of the valid frames
        binary lose SHARE [reset] | off
            closes the connection after a refused frame without a reply
        binary cut SHARE [bytes=N] [reset] | off
            sends only some bytes of the reply, then closes the connection
        binary trickle SHARE [pause=TIME] | off
            sends the reply byte by byte
        binary close N [share=SHARE] [delay=TIME] [reset] | now [reset] | off
            closes a connection without a reply after N frames, or all connections now
        binary shutdown N [share=SHARE] | now | off
            sends status 10 after N frames of a connection, or on all connections now
        binary slow BYTES | off
            reads at most BYTES bytes a second from a connection
        binary handshake SHARE | off
            closes a share of the connections during the handshake
        binary accept TIME | …
            delays the handshake of a new connection
        binary unknown-command status | close
            replies with a status to an unknown command, or closes the connection
        binary empty-token zero | named
            sets the identifier in the reply to an empty token
        binary calm
            ends all binary faults
        Each binary command accepts at=ADDRESS, and then applies only to this address.
        feedback add HEX [SINCE] [topic=ID] | fill N [topic=ID] | clear
            adds one token or N generated tokens to the list, or empties the list
        feedback cut N [reset] | off
            after N tuples, ends the stream in the middle of the next tuple
        feedback stay on | off
            keeps the connection open after the last tuple
        feedback think TIME | off
            sends the first tuple only after TIME
        calm
            ends all faults above, but keeps token states and the stream limit
        devices
            prints counters of the devices and editions (needs --devices)
        devices minutes
            prints wake-ups, API requests and done reports by minute of the model
        devices done [FROM [COUNT]]
            prints the devices that are done, from a place in the list
        counters | counters reset | faults | stop | help
            prints or resets the counters, prints the faults, stops the simulator,
            prints this help
        SHARE is a number such as 0.05 or 5%.
        TIME is a duration such as 500ms, 10s, 2m or 1h.
        """

    /// - Parameter now: the present time in milliseconds since 1970.
    package init(_ line: String, now: Int64) throws(SimulatorError) {
        var words = FaultWords(line)
        let name = try words.next("a command; use \"help\" for a list")
        address = name == "binary" ? try words.value(of: "at") : nil
        action =
            switch name {
            case "binary": try Self.binary(&words, at: address)
            case "feedback": try Self.feedback(&words, now: now)
            default: try Self.action(name, &words, now: now)
            }
        try words.end()
    }

    private static func act(_ body: @escaping @Loop (SimulatedGateway) -> Void) -> Action {
        { gateway in
            body(gateway)
            return nil
        }
    }

    private static func change(_ body: @escaping @Loop (inout Faults) -> Void) -> Action {
        act { gateway in
            body(&gateway.faults)
            gateway.binary?.faultsChanged()
        }
    }

    private static func action(
        _ name: String, _ words: inout FaultWords, now: Int64
    ) throws(SimulatorError) -> Action {
        switch name {
        case "goaway" where words.take("now"):
            let (isAnnounced, reason) = (words.take("announced"), try words.value(of: "reason"))
            return act { gateway in
                for connection in gateway.connections.values {
                    connection.goAway(announced: isAnnounced, reason: reason)
                }
            }
        case "cut" where words.take("now"):
            return act { for connection in $0.connections.values { connection.cut() } }
        case "streams":
            let limit = UInt32(try words.count(in: 0...Int(Int32.max)))
            return act { $0.setStreamLimit(limit) }
        case "token":
            let (token, rule) = try words.tokenRule(since: now / 1000, now: now)
            return act { $0.judge.table.set(token, rule) }
        case "counters" where words.take("reset"): return act { $0.resetCounters() }
        case "counters": return { $0.countersJSON() }
        case "faults": return { $0.faults.json }
        case "devices":
            let report = try DeviceReport(&words)
            return { $0.devices?.report(report) ?? noDevices }
        case "help":
            return { _ in
                JSONText.object {
                    $0.member("ok", true)
                    $0.member("help", manual)
                }
            }
        case "stop": return act { $0.onStop() }
        default:
            let faults = try Change<Faults>(name, &words, now: now)
            return change { faults.apply(&$0) }
        }
    }

    private static let noDevices = JSONText.object {
        $0.member("ok", false)
        $0.member("error", "the simulator has no devices; start it with --devices FILE")
    }

    private static func binary(
        _ words: inout FaultWords, at address: String?
    ) throws(SimulatorError) -> Action {
        let name = try words.next("a command of the binary interface; use \"help\" for a list")
        switch name {
        case "close" where words.take("now"):
            let isReset = words.take("reset")
            return act { $0.binary?.closeNow(isReset: isReset, at: address) }
        case "shutdown" where words.take("now"): return act { $0.binary?.shutDownNow(at: address) }
        default:
            let faults = try Change<BinaryFaults>(name, &words)
            return change { $0.binary.apply(faults, at: address) }
        }
    }

    private static func feedback(_ words: inout FaultWords, now: Int64) throws(SimulatorError) -> Action {
        let name = try words.next("a command of the feedback service; use \"help\" for a list")
        if let faults = try Change<FeedbackFaults>(name, &words) {
            return change { faults.apply(&$0.feedback) }
        }
        let topic = try words.value(of: "topic")
        switch name {
        case "add":
            let token = try words.token()
            guard token.count <= BinaryCommand.longestToken else {
                throw .unusable("the token is longer than \(BinaryCommand.longestToken) bytes")
            }
            let time = UInt32(clamping: try words.since(now / 1000, now: now))
            return act { $0.feedbackTable.add(token, time: time, topic: topic) }
        case "fill":
            let count = try words.count(in: 1...FeedbackList.most)
            return act { $0.fillFeedback(count, topic: topic) }
        case "clear": return act { $0.feedbackTable.clear() }
        default: throw .unusable("no command \"feedback \(name)\"; use \"help\" for a list")
        }
    }
}
