import APNs

/// A change of a value, to be made later.
struct Change<Target>: Sendable {
    let apply: @Sendable (inout Target) -> Void

    init(_ apply: @escaping @Sendable (inout Target) -> Void) { self.apply = apply }

    static func set<Value: Sendable>(
        _ property: WritableKeyPath<Target, Value> & Sendable, to value: Value
    ) -> Self {
        Self { $0[keyPath: property] = value }
    }
}

/// Faults that are switched on, changed or switched off.
package struct FaultChange: Sendable {
    /// The address of the binary interface that it names; nil: it names none.
    let address: String?
    private let change: Change<Faults>

    init(_ name: String, _ words: inout FaultWords, now: Int64) throws(SimulatorError) {
        address = nil
        change = try Self.change(name, &words, now: now)
    }

    /// Of the binary interface, at one address or at all.
    init(binary change: Change<BinaryFaults>, at address: String?) {
        self.address = address
        self.change = Change { $0.binary.apply(change, at: address) }
    }

    init(feedback change: Change<FeedbackFaults>) {
        address = nil
        self.change = Change { change.apply(&$0.feedback) }
    }

    func apply(to faults: inout Faults) { change.apply(&faults) }

    private static func change(
        _ name: String, _ words: inout FaultWords, now: Int64
    ) throws(SimulatorError) -> Change<Faults> {
        let isOff = words.take("off")
        switch name {
        case "latency": return .set(\.latency, to: isOff ? .none : try Latency(&words))
        case "goaway": return .set(\.goAway, to: isOff ? nil : try goAway(&words))
        case "refuse": return .set(\.refused, to: isOff ? 0 : try words.share())
        case "reset":
            return isOff ? Change { ($0.reset, $0.resetCode) = (Faults.Loss(), 2) } : try reset(&words)
        case "silence": return .set(\.silence, to: isOff ? Faults.Loss() : try loss(&words))
        case "cut": return .set(\.cutEvery, to: isOff ? nil : try words.count(in: 1...Int(Int32.max)))
        case "answer": return .set(\.phase, to: isOff ? nil : try phase(&words, now: now))
        case "rate": return .set(\.rate, to: isOff ? nil : try words.count(in: 0...Int(Int32.max)))
        case "expired-token":
            let reply = Reply(.expiredProviderToken)
            return .set(
                \.phase,
                to: isOff ? nil : Faults.Phase(reply: reply, share: 1, until: now + (try words.time())))
        case "close-new":
            let isOn = !isOff && words.take("on")
            return .set(\.closesNewUntil, to: isOff ? 0 : isOn ? .max : now + (try words.time()))
        case "calm": return Change { $0 = Faults() }
        default: throw .unusable("no command \"\(name)\"; say help for a list")
        }
    }

    private static func goAway(_ words: inout FaultWords) throws(SimulatorError) -> Faults.GoAway {
        let every = try words.count(in: 1...Int(Int32.max))
        return Faults.GoAway(
            every: every, announced: words.take("announced"), reason: try words.value(of: "reason"))
    }

    private static func loss(_ words: inout FaultWords) throws(SimulatorError) -> Faults.Loss {
        Faults.Loss(share: try words.share(), processed: words.take("processed"))
    }

    private static func reset(_ words: inout FaultWords) throws(SimulatorError) -> Change<Faults> {
        var loss = Faults.Loss(share: try words.share())
        let text = try words.value(of: "code") ?? "2"
        guard let code = UInt32(text) else { throw .unusable("\"\(text)\" is no error code") }
        loss.processed = words.take("processed")
        return Change { [loss] in ($0.reset, $0.resetCode) = (loss, code) }
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
