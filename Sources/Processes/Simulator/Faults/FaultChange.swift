import APNs

/// A change that can be applied to a value later.
struct Change<Target>: Sendable {
    let apply: @Sendable (inout Target) -> Void

    init(_ apply: @escaping @Sendable (inout Target) -> Void) { self.apply = apply }

    static func set<Value: Sendable>(
        _ property: WritableKeyPath<Target, Value> & Sendable, to value: Value
    ) -> Self {
        Self { $0[keyPath: property] = value }
    }
}

extension Change<Faults> {
    /// Reads the words of a command that switches a fault of the HTTP/2 interface on or off, or changes the fault.
    init(_ name: String, _ words: inout FaultWords, now: Int64) throws(SimulatorError) {
        let isOff = words.take("off")
        self =
            switch name {
            case "latency": .set(\.latency, to: isOff ? .none : try Latency(&words))
            case "goaway": .set(\.goAway, to: isOff ? nil : try Self.goAway(&words))
            case "refuse": .set(\.refused, to: isOff ? 0 : try words.share())
            case "reset": .set(\.reset, to: isOff ? nil : try Self.reset(&words))
            case "silence": .set(\.silence, to: isOff ? Faults.Loss() : try Self.loss(&words))
            case "cut": .set(\.cutEvery, to: isOff ? nil : try words.count(in: 1...Int(Int32.max)))
            case "answer":
                .set(\.imposedResponse, to: isOff ? nil : try Self.imposedResponse(&words, now: now))
            case "rate": .set(\.rate, to: isOff ? nil : try words.count(in: 0...Int(Int32.max)))
            case "expired-token":
                .set(
                    \.imposedResponse,
                    to: isOff
                        ? nil
                        : Faults.ImposedResponse(
                            reply: Reply(.expiredProviderToken), share: 1, until: now + (try words.time())))
            case "close-new":
                .set(
                    \.closesNewUntil,
                    to: isOff ? 0 : words.take("on") ? .max : now + (try words.time()))
            case "calm": Change { $0 = Faults() }
            default: throw .unusable("no command \"\(name)\"; use \"help\" for a list")
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

    private static func reset(_ words: inout FaultWords) throws(SimulatorError) -> Faults.Reset {
        let share = try words.share()
        let text = try words.value(of: "code") ?? "2"
        guard let code = UInt32(text) else { throw .unusable("\"\(text)\" is not an error code") }
        return Faults.Reset(share: share, code: code, processed: words.take("processed"))
    }

    private static func imposedResponse(_ words: inout FaultWords, now: Int64) throws(SimulatorError)
        -> Faults.ImposedResponse
    {
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
                throw .unusable("\"\(retryAfter)\" is not a number of seconds")
            }
            reply.retryAfter = seconds
        }
        guard status == 200 || reply.reason != nil else {
            throw .unusable("status \(status) has no usual reason; add reason=WORD")
        }
        return Faults.ImposedResponse(reply: reply, share: share ?? 1, until: until)
    }
}
