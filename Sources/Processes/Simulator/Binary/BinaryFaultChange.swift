import APNs
import BinaryProtocol

extension Change<BinaryFaults> {
    /// Reads the words of a command that switches a fault of the binary interface on or off, or changes the fault.
    init(_ name: String, _ words: inout FaultWords) throws(SimulatorError) {
        let isOff = words.take("off")
        self =
            switch name {
            case "delay": .set(\.delay, to: isOff ? .none : try Latency(&words))
            case "linger": .set(\.linger, to: isOff ? .none : try Latency(&words))
            case "refuse": .set(\.refusal, to: isOff ? nil : try Self.refusal(&words))
            case "lose": .set(\.lostReplies, to: isOff ? nil : try Self.loss(&words))
            case "cut": .set(\.cutReplies, to: isOff ? nil : try Self.cut(&words))
            case "trickle": .set(\.trickledReplies, to: isOff ? nil : try Self.trickle(&words))
            case "close": .set(\.closing, to: isOff ? nil : try Self.ending(&words, from: 0))
            case "shutdown": .set(\.shutdown, to: isOff ? nil : try Self.ending(&words, from: 1))
            case "slow":
                .set(\.bytesPerSecond, to: isOff ? nil : try words.count(in: 0...Int(Int32.max)))
            case "handshake": .set(\.brokenHandshakes, to: isOff ? 0 : try words.share())
            case "accept": .set(\.acceptDelay, to: isOff ? .none : try Latency(&words))
            case "unknown-command":
                .set(\.closesAtUnknownCommand, to: try words.choice("close", or: "status"))
            case "empty-token": .set(\.namesEmptyTokens, to: try words.choice("named", or: "zero"))
            case "calm": Change { $0 = BinaryFaults() }
            default: throw .unusable("no command \"binary \(name)\"; use \"help\" for a list")
            }
    }

    private static func loss(_ words: inout FaultWords) throws(SimulatorError) -> BinaryFaults.Loss {
        BinaryFaults.Loss(share: try words.share(), isReset: words.take("reset"))
    }

    private static func refusal(_ words: inout FaultWords) throws(SimulatorError) -> BinaryFaults.Refusal {
        let text = try words.value(of: "status") ?? "1"
        guard let status = UInt8(text) else { throw .unusable("\"\(text)\" is not a status from 0 to 255") }
        return BinaryFaults.Refusal(share: try words.share(), status: BinaryStatus(rawValue: status))
    }

    private static func cut(_ words: inout FaultWords) throws(SimulatorError) -> BinaryFaults.Cut {
        let bytes = try words.value(of: "bytes").map { (text) throws(SimulatorError) in
            guard let bytes = Int(text), (1..<BinaryReply.length).contains(bytes) else {
                throw .unusable(
                    "\"\(text)\" is not a number of bytes below the \(BinaryReply.length) bytes of a reply")
            }
            return bytes
        }
        return BinaryFaults.Cut(share: try words.share(), bytes: bytes, isReset: words.take("reset"))
    }

    private static func trickle(_ words: inout FaultWords) throws(SimulatorError) -> BinaryFaults.Trickle {
        let pause = try words.value(of: "pause").map { (text) throws(SimulatorError) in try Latency(text) }
        return BinaryFaults.Trickle(share: try words.share(), pause: pause ?? .uniform(5, 50))
    }

    private static func ending(
        _ words: inout FaultWords, from least: Int
    ) throws(SimulatorError) -> BinaryFaults.Ending {
        let share = try words.value(of: "share").map { (text) throws(SimulatorError) in
            try FaultWords.share(text)
        }
        let delay = try words.value(of: "delay").map { (text) throws(SimulatorError) in try Latency(text) }
        let every = try words.count(in: least...Int(Int32.max))
        return BinaryFaults.Ending(
            every: every, share: share ?? 1, delay: delay ?? .none, isReset: words.take("reset"))
    }
}
