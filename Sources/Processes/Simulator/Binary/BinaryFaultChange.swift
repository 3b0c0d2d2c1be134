import APNs
import BinaryProtocol

/// One fault of the binary interface switched on, changed or switched off.
package enum BinaryFaultChange: Hashable, Sendable {
    case delay(Latency)
    case linger(Latency)
    case refusal(BinaryFaults.Refusal?)
    case lostReplies(BinaryFaults.Loss?)
    case cutReplies(BinaryFaults.Cut?)
    case trickledReplies(BinaryFaults.Trickle?)
    case closing(BinaryFaults.Ending?)
    case shutdown(BinaryFaults.Ending?)
    case bytesPerSecond(Int?)
    case brokenHandshakes(Double)
    case acceptDelay(Latency)
    case unknownCommand(closes: Bool)
    case emptyToken(isNamed: Bool)
    case calm

    init(_ name: String, _ words: inout FaultWords) throws(SimulatorError) {
        let isOff = words.take("off")
        switch name {
        case "delay": self = .delay(isOff ? .none : try Latency(&words))
        case "linger": self = .linger(isOff ? .none : try Latency(&words))
        case "refuse": self = .refusal(isOff ? nil : try Self.refusal(&words))
        case "lose":
            self = .lostReplies(
                isOff
                    ? nil : BinaryFaults.Loss(share: try words.share(), isReset: words.take("reset")))
        case "cut": self = .cutReplies(isOff ? nil : try Self.cut(&words))
        case "trickle": self = .trickledReplies(isOff ? nil : try Self.trickle(&words))
        case "close": self = .closing(isOff ? nil : try Self.ending(&words, from: 0))
        case "shutdown": self = .shutdown(isOff ? nil : try Self.ending(&words, from: 1))
        case "slow": self = .bytesPerSecond(isOff ? nil : try words.count(in: 0...Int(Int32.max)))
        case "handshake": self = .brokenHandshakes(isOff ? 0 : try words.share())
        case "accept": self = .acceptDelay(isOff ? .none : try Latency(&words))
        case "unknown-command": self = .unknownCommand(closes: try words.choice("close", or: "status"))
        case "empty-token": self = .emptyToken(isNamed: try words.choice("named", or: "zero"))
        case "calm": self = .calm
        default: throw .unusable("no command \"binary \(name)\"; say help for a list")
        }
    }

    func apply(to faults: inout BinaryFaults) {
        switch self {
        case .delay(let delay): faults.delay = delay
        case .linger(let linger): faults.linger = linger
        case .refusal(let refusal): faults.refusal = refusal
        case .lostReplies(let loss): faults.lostReplies = loss
        case .cutReplies(let cut): faults.cutReplies = cut
        case .trickledReplies(let trickle): faults.trickledReplies = trickle
        case .closing(let ending): faults.closing = ending
        case .shutdown(let ending): faults.shutdown = ending
        case .bytesPerSecond(let speed): faults.bytesPerSecond = speed
        case .brokenHandshakes(let share): faults.brokenHandshakes = share
        case .acceptDelay(let delay): faults.acceptDelay = delay
        case .unknownCommand(let closes): faults.closesAtUnknownCommand = closes
        case .emptyToken(let isNamed): faults.namesEmptyTokens = isNamed
        case .calm: faults = BinaryFaults()
        }
    }

    private static func refusal(_ words: inout FaultWords) throws(SimulatorError) -> BinaryFaults.Refusal {
        let text = try words.value(of: "status") ?? "1"
        guard let status = UInt8(text) else { throw .unusable("\"\(text)\" is no status from 0 to 255") }
        return BinaryFaults.Refusal(share: try words.share(), status: BinaryStatus(rawValue: status))
    }

    private static func cut(_ words: inout FaultWords) throws(SimulatorError) -> BinaryFaults.Cut {
        let bytes = try words.value(of: "bytes").map { (text) throws(SimulatorError) in
            guard let bytes = Int(text), (1..<BinaryReply.length).contains(bytes) else {
                throw .unusable("\"\(text)\" is no part of the \(BinaryReply.length) bytes of a reply")
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
