import APNs
import BinaryProtocol

/// What the binary interface does wrong, or not at once. Changed by ``BinaryFaultChange``.
package struct BinaryFaults: Hashable, Sendable {
    /// A refusal that no notification has deserved.
    package struct Refusal: Hashable, Sendable {
        /// Share of the notifications.
        var share: Double
        var status: BinaryStatus
    }

    /// The reply is never sent, only the close comes.
    package struct Loss: Hashable, Sendable {
        /// Share of the replies.
        var share: Double
        var isReset: Bool
    }

    /// The reply breaks off, and the close comes.
    package struct Cut: Hashable, Sendable {
        /// Share of the replies.
        var share: Double
        /// How many of its bytes are sent; nil: some.
        var bytes: Int?
        var isReset: Bool
    }

    /// The reply goes out byte by byte.
    package struct Trickle: Hashable, Sendable {
        /// Share of the replies.
        var share: Double
        /// Between one byte and the next.
        var pause: Latency
    }

    /// The end of a connection after so many frames, all of them accepted.
    package struct Ending: Hashable, Sendable {
        /// 0: before the first one.
        var every: Int
        /// Share of the connections that it comes to.
        var share: Double
        /// From the last accepted frame to the close; what comes in between is discarded.
        var delay = Latency.none
        var isReset = false
    }

    /// From a refused frame to the reply.
    package var delay = Latency.uniform(300, 700)
    /// From the reply to the close: with the delay, a second at most.
    package var linger = Latency.uniform(0, 300)
    package var refusal: Refusal?
    package var lostReplies: Loss?
    package var cutReplies: Cut?
    package var trickledReplies: Trickle?
    /// A close without a cause and without a word.
    package var closing: Ending?
    /// A reply that blames nobody, and names the last notification that was accepted.
    package var shutdown: Ending?
    /// Bytes that are read of a connection in a second; nil: all that come.
    package var bytesPerSecond: Int?
    /// Share of the connections that are closed in the middle of the handshake.
    package var brokenHandshakes: Double = 0
    /// An unknown command is answered with the close alone, not with a status.
    package var closesAtUnknownCommand = false
    /// From the arrival of a connection to the beginning of its handshake.
    package var acceptDelay = Latency.none
    /// A reply about an empty token names the notification, not 0.
    package var namesEmptyTokens = false

    package init() {}
}

/// What the binary interface does wrong on all addresses, and on single ones.
package struct AddressedFaults: Hashable, Sendable {
    package private(set) var general = BinaryFaults()
    private(set) var single: [String: BinaryFaults] = [:]

    package subscript(address: String) -> BinaryFaults { single[address] ?? general }

    /// - Parameter address: nil: on all, whatever was said of single ones.
    mutating func apply(_ change: BinaryFaultChange, at address: String?) {
        guard let address else {
            change.apply(to: &general)
            for address in single.keys { change.apply(to: &single[address]!) }
            return
        }
        change.apply(to: &single[address, default: general])
    }
}

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
