import APNs
import BinaryProtocol
import PushModel

/// The faults and delays of the binary interface. ``FaultCommand`` changes them.
package struct BinaryFaults: Hashable, Sendable {
    /// A share of the valid notifications are refused.
    package struct Refusal: Hashable, Sendable {
        var share: Double
        var status: BinaryStatus
    }

    /// For a share of the refused frames, the connection is closed without a reply.
    package struct Loss: Hashable, Sendable {
        var share: Double
        var isReset: Bool
    }

    /// For a share of the refused frames, only a part of the reply is sent before the connection is closed.
    package struct Cut: Hashable, Sendable {
        var share: Double
        /// The number of bytes of the reply that are sent; nil means a random number.
        var bytes: Int?
        var isReset: Bool
    }

    /// For a share of the refused frames, the reply is sent byte by byte.
    package struct Trickle: Hashable, Sendable {
        var share: Double
        /// The delay between two bytes.
        var pause: Latency
    }

    /// Ends a connection after a number of accepted frames.
    package struct Ending: Hashable, Sendable {
        /// The number of accepted frames; 0 means that the connection ends before the first frame.
        var every: Int
        /// The share of the connections to which this fault applies.
        var share: Double
        /// The delay between the last accepted frame and the close. Frames that arrive during the delay are discarded.
        var delay = Latency.none
        var isReset = false
    }

    /// The delay between a refused frame and the reply.
    package var delay = Latency.uniform(300, 700)
    /// The delay between the reply and the close. By default, this delay and ``delay`` together are at most one second.
    package var linger = Latency.uniform(0, 300)
    package var refusal: Refusal?
    package var lostReplies: Loss?
    package var cutReplies: Cut?
    package var trickledReplies: Trickle?
    /// Closes connections without a reply, although no frame was refused.
    package var closing: Ending?
    /// Ends connections with a reply of status 10 that names the last accepted notification.
    package var shutdown: Ending?
    /// The number of bytes per second that are read from a connection; nil means no limit.
    package var bytesPerSecond: Int?
    /// The share of the connections that are closed in the middle of the handshake.
    package var brokenHandshakes: Double = 0
    /// Whether an unknown command closes the connection without a reply.
    package var closesAtUnknownCommand = false
    /// The delay between the arrival of a connection and the start of its handshake.
    package var acceptDelay = Latency.none
    /// Whether a reply about an empty token contains the notification's identifier; otherwise the reply contains
    /// 0.
    package var namesEmptyTokens = false

    package init() {}
}

/// The faults of the binary interface on all addresses and on single addresses.
package struct AddressedFaults: Hashable, Sendable {
    package private(set) var general = BinaryFaults()
    private(set) var single: [String: BinaryFaults] = [:]

    package subscript(address: String) -> BinaryFaults { single[address] ?? general }

    /// - Parameter address: the address whose faults change; nil means all addresses, including addresses that have
    ///   their own faults.
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
    /// Whether all faults have the values that they have at the start.
    var isCalm: Bool { self == AddressedFaults() }

    /// Writes the changed faults as members of a JSON object. The member `at` contains the faults of single addresses.
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
