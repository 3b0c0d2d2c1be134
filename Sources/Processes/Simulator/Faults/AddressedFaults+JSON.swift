extension AddressedFaults {
    /// Nothing is other than at the start.
    var isCalm: Bool { self == AddressedFaults() }

    /// A JSON object: what is other than at the start, and the same for single addresses under `at`.
    var json: String {
        var members = general.members
        if !single.isEmpty {
            let addresses = single.sorted { $0.key < $1.key }.map { address, faults in
                "\(TextBuffer.quoted(address)):{\(faults.members.joined(separator: ","))}"
            }
            members.append("\"at\":{\(addresses.joined(separator: ","))}")
        }
        return "{" + members.joined(separator: ",") + "}"
    }
}

extension BinaryFaults {
    fileprivate var members: [String] {
        let usual = BinaryFaults()
        var members: [String] = []
        func add(_ name: String, _ value: some CustomStringConvertible) {
            members.append("\"\(name)\":\(value)")
        }
        if delay != usual.delay { add("delay", TextBuffer.quoted("\(delay)")) }
        if linger != usual.linger { add("linger", TextBuffer.quoted("\(linger)")) }
        if let refusal { add("refuse", "{\"share\":\(refusal.share),\"status\":\(refusal.status.rawValue)}") }
        if let lostReplies {
            add("lose", "{\"share\":\(lostReplies.share),\"reset\":\(lostReplies.isReset)}")
        }
        if let cutReplies {
            let bytes = cutReplies.bytes.map { ",\"bytes\":\($0)" } ?? ""
            add("cut", "{\"share\":\(cutReplies.share),\"reset\":\(cutReplies.isReset)\(bytes)}")
        }
        if let trickledReplies {
            let pause = TextBuffer.quoted("\(trickledReplies.pause)")
            add("trickle", "{\"share\":\(trickledReplies.share),\"pause\":\(pause)}")
        }
        if let closing { add("close", closing.json) }
        if let shutdown { add("shutdown", shutdown.json) }
        if let bytesPerSecond { add("slow", bytesPerSecond) }
        if brokenHandshakes > 0 { add("handshake", brokenHandshakes) }
        if acceptDelay != .none { add("accept", TextBuffer.quoted("\(acceptDelay)")) }
        if closesAtUnknownCommand { add("unknown_command", TextBuffer.quoted("close")) }
        if namesEmptyTokens { add("empty_token", TextBuffer.quoted("named")) }
        return members
    }
}

extension BinaryFaults.Ending {
    fileprivate var json: String {
        let delay = delay == .none ? "" : ",\"delay\":\(TextBuffer.quoted("\(delay)"))"
        return "{\"every\":\(every),\"share\":\(share),\"reset\":\(isReset)\(delay)}"
    }
}
