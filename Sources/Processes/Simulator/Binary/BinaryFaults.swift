import APNs
import BinaryProtocol
import PushModel

/// Faults and delays of the binary interface. ``FaultCommand`` changes them.
package struct BinaryFaults: Hashable, Sendable {
    /// Refuses notifications that are valid.
    package struct Refusal: Hashable, Sendable {
        var share: Double
        var status: BinaryStatus
    }

    /// The reply is never sent, only the close comes.
    package struct Loss: Hashable, Sendable {
        var share: Double
        var isReset: Bool
    }

    /// The reply breaks off, and the close comes.
    package struct Cut: Hashable, Sendable {
        var share: Double
        /// How many of its bytes are sent; nil: some.
        var bytes: Int?
        var isReset: Bool
    }

    /// The reply goes out byte by byte.
    package struct Trickle: Hashable, Sendable {
        var share: Double
        /// Between one byte and the next.
        var pause: Latency
    }

    /// The end of a connection after a number of accepted frames.
    package struct Ending: Hashable, Sendable {
        /// 0: before the first one.
        var every: Int
        /// Share of the connections that end this way.
        var share: Double
        /// From the last accepted frame to the close; frames in between are discarded.
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
    /// A close without a refused frame and without a reply.
    package var closing: Ending?
    /// A reply with status 10 that names the last accepted notification.
    package var shutdown: Ending?
    /// Bytes a second that are read from a connection; nil: no limit.
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

/// Faults of the binary interface on all addresses, and on single addresses.
package struct AddressedFaults: Hashable, Sendable {
    package private(set) var general = BinaryFaults()
    private(set) var single: [String: BinaryFaults] = [:]

    package subscript(address: String) -> BinaryFaults { single[address] ?? general }

    /// - Parameter address: nil changes all addresses, single ones too.
    mutating func apply(_ change: Change<BinaryFaults>, at address: String?) {
        guard let address else {
            change.apply(&general)
            for address in single.keys { change.apply(&single[address]!) }
            return
        }
        change.apply(&single[address, default: general])
    }
}

extension AddressedFaults {
    /// No fault has changed since the start.
    var isCalm: Bool { self == AddressedFaults() }

    /// Members of a JSON object: what is other than at the start, and the same for single addresses under `at`.
    func write(to text: inout JSONText) {
        general.write(to: &text)
        guard !single.isEmpty else { return }
        text.member("at") { text in
            for (address, faults) in single.sorted(by: { $0.key < $1.key }) {
                text.member(address, object: faults.write)
            }
        }
    }
}

extension BinaryFaults {
    fileprivate func write(to text: inout JSONText) {
        let usual = BinaryFaults()
        if delay != usual.delay { text.member("delay", "\(delay)") }
        if linger != usual.linger { text.member("linger", "\(linger)") }
        if let refusal {
            text.member("refuse") {
                $0.member("share", refusal.share)
                $0.member("status", refusal.status.rawValue)
            }
        }
        if let lostReplies {
            text.member("lose") {
                $0.member("share", lostReplies.share)
                $0.member("reset", lostReplies.isReset)
            }
        }
        if let cutReplies {
            text.member("cut") {
                $0.member("share", cutReplies.share)
                $0.member("reset", cutReplies.isReset)
                if let bytes = cutReplies.bytes { $0.member("bytes", bytes) }
            }
        }
        if let trickledReplies {
            text.member("trickle") {
                $0.member("share", trickledReplies.share)
                $0.member("pause", "\(trickledReplies.pause)")
            }
        }
        if let closing { text.member("close", object: closing.write) }
        if let shutdown { text.member("shutdown", object: shutdown.write) }
        if let bytesPerSecond { text.member("slow", bytesPerSecond) }
        if brokenHandshakes > 0 { text.member("handshake", brokenHandshakes) }
        if acceptDelay != .none { text.member("accept", "\(acceptDelay)") }
        if closesAtUnknownCommand { text.member("unknown_command", "close") }
        if namesEmptyTokens { text.member("empty_token", "named") }
    }
}

extension BinaryFaults.Ending {
    fileprivate func write(to text: inout JSONText) {
        text.member("every", every)
        text.member("share", share)
        text.member("reset", isReset)
        if delay != .none { text.member("delay", "\(delay)") }
    }
}
