import APNs
import BinaryProtocol
import EventLoop
import PushModel

/// A parsed line of the control socket, or of a `--fault` flag, that can be executed.
package struct FaultCommand {
    /// Executes the command. The reply is a JSON object on one line; nil means success without data.
    typealias Action = @Loop (SimulatedGateway) -> String?

    let action: Action
    /// The address of the binary interface in the command; nil if the command names no address.
    let address: String?

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

    /// - Parameter now: the present time in milliseconds since 1970.
    package init(_ line: String, now: Int64) throws(SimulatorError) {
        var words = FaultWords(line)
        let name = try words.next("a command; say help for a list")
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

    private static func binary(
        _ words: inout FaultWords, at address: String?
    ) throws(SimulatorError) -> Action {
        let name = try words.next("a command of the binary interface; say help for a list")
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
        let name = try words.next("a command of the feedback service; say help for a list")
        if let faults = try Change<FeedbackFaults>(name, &words) {
            return change { faults.apply(&$0.feedback) }
        }
        let topic = try words.value(of: "topic")
        switch name {
        case "add":
            let token = try words.token()
            guard token.count <= BinaryCommand.longestToken else {
                throw .unusable("the token is not hexadecimal")
            }
            let time = UInt32(clamping: try words.since(now / 1000, now: now))
            return act { $0.feedbackTable.add(token, time: time, topic: topic) }
        case "fill":
            let count = try words.count(in: 1...FeedbackList.most)
            return act { $0.fillFeedback(count, topic: topic) }
        case "clear": return act { $0.feedbackTable.clear() }
        default: throw .unusable("no command \"feedback \(name)\"; say help for a list")
        }
    }
}
