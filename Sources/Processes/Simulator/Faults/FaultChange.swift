import APNs

/// One fault switched on, changed or switched off.
package enum FaultChange: Hashable, Sendable {
    case latency(Latency)
    case goAway(Faults.GoAway?)
    case refuse(Double)
    case reset(Faults.Loss, code: UInt32)
    case silence(Faults.Loss)
    case cut(every: Int?)
    case phase(Faults.Phase?)
    case rate(Int?)
    case closeNew(until: Int64)
    /// On one address, or on all.
    case binary(BinaryFaultChange, at: String?)
    case feedback(FeedbackFaultChange)
    case calm

    init(_ name: String, _ words: inout FaultWords, now: Int64) throws(SimulatorError) {
        let isOff = words.take("off")
        switch name {
        case "latency": self = .latency(isOff ? .none : try Latency(&words))
        case "refuse": self = .refuse(isOff ? 0 : try words.share())
        case "reset": self = isOff ? .reset(Faults.Loss(), code: 2) : try Self.reset(&words)
        case "silence": self = .silence(isOff ? Faults.Loss() : try Self.loss(&words))
        case "cut": self = .cut(every: isOff ? nil : try words.count(in: 1...Int(Int32.max)))
        case "answer": self = .phase(isOff ? nil : try Self.phase(&words, now: now))
        case "rate": self = .rate(isOff ? nil : try words.count(in: 0...Int(Int32.max)))
        case "expired-token":
            let reply = Reply(.expiredProviderToken)
            self = .phase(isOff ? nil : Faults.Phase(reply: reply, share: 1, until: now + (try words.time())))
        case "close-new":
            let isOn = !isOff && words.take("on")
            self = .closeNew(until: isOff ? 0 : isOn ? .max : now + (try words.time()))
        case "calm": self = .calm
        default: throw .unusable("no command \"\(name)\"; say help for a list")
        }
    }

    func apply(to faults: inout Faults) {
        switch self {
        case .latency(let latency): faults.latency = latency
        case .goAway(let plan): faults.goAway = plan
        case .refuse(let share): faults.refused = share
        case .reset(let loss, let code): (faults.reset, faults.resetCode) = (loss, code)
        case .silence(let loss): faults.silence = loss
        case .cut(let every): faults.cutEvery = every
        case .phase(let phase): faults.phase = phase
        case .rate(let rate): faults.rate = rate
        case .closeNew(let until): faults.closesNewUntil = until
        case .binary(let change, let address): faults.binary.apply(change, at: address)
        case .feedback(let change): change.apply(to: &faults.feedback)
        case .calm: faults = Faults()
        }
    }

    private static func loss(_ words: inout FaultWords) throws(SimulatorError) -> Faults.Loss {
        Faults.Loss(share: try words.share(), processed: words.take("processed"))
    }

    private static func reset(_ words: inout FaultWords) throws(SimulatorError) -> FaultChange {
        var loss = Faults.Loss(share: try words.share())
        let text = try words.value(of: "code") ?? "2"
        guard let code = UInt32(text) else { throw .unusable("\"\(text)\" is no error code") }
        loss.processed = words.take("processed")
        return .reset(loss, code: code)
    }

    private static func phase(_ words: inout FaultWords, now: Int64) throws(SimulatorError) -> Faults.Phase {
        let status = UInt16(try words.count(in: 200...599))
        let until = words.isEmpty || words.nextIsNamed ? Int64.max : now + (try words.time())
        let reason = try words.value(of: "reason", mayBeEmpty: true)
        let share = try words.value(of: "share").map { (text) throws(SimulatorError) in
            try FaultWords.share(text)
        }
        let retryAfter = try words.value(of: "retry-after")
        var reply = Reply(status: status, reason: reason ?? Reply.usualReason(for: status))
        if let retryAfter {
            guard let seconds = Int64(retryAfter), seconds >= 0 else {
                throw .unusable("\"\(retryAfter)\" is no number of seconds")
            }
            reply.retryAfter = seconds
        }
        guard status == 200 || reply.reason != nil else {
            throw .unusable("status \(status) has no usual reason; say reason=WORD")
        }
        return Faults.Phase(reply: reply, share: share ?? 1, until: until)
    }
}
