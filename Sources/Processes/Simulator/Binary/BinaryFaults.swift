import APNs
import BinaryProtocol
import PushModel

/// The faults and delays of the binary interface. ``FaultCommand`` changes them.
package struct BinaryFaults: Hashable, Sendable {
    /// Refuses some valid notifications.
    package struct Refusal: Hashable, Sendable {
        var share: Double
        var status: BinaryStatus
    }

    /// Closes the connection without sending the reply.
    package struct Loss: Hashable, Sendable {
        var share: Double
        var isReset: Bool
    }

    /// Sends only a part of the reply and closes the connection.
    package struct Cut: Hashable, Sendable {
        var share: Double
        /// The number of bytes of the reply that are sent; nil: a random number.
        var bytes: Int?
        var isReset: Bool
    }

    /// Sends the reply byte by byte.
    package struct Trickle: Hashable, Sendable {
        var share: Double
        /// The delay between two bytes.
        var pause: Latency
    }

    /// Ends a connection after a number of accepted frames.
    package struct Ending: Hashable, Sendable {
        /// The number of accepted frames; 0: the connection ends before the first frame.
        var every: Int
        /// The share of the connections that end this way.
        var share: Double
        /// The delay between the last accepted frame and the close. Frames in between are discarded.
        var delay = Latency.none
        var isReset = false
    }

    /// The delay between a refused frame and the reply.
    package var delay = Latency.uniform(300, 700)
    /// The delay between the reply and the close. Together with ``delay`` it is at most one second by default.
    package var linger = Latency.uniform(0, 300)
    package var refusal: Refusal?
    package var lostReplies: Loss?
    package var cutReplies: Cut?
    package var trickledReplies: Trickle?
    /// Closes connections without a refused frame and without a reply.
    package var closing: Ending?
    /// Ends connections with a reply of status 10 that names the last accepted notification.
    package var shutdown: Ending?
    /// The number of bytes per second that are read from a connection; nil: no limit.
    package var bytesPerSecond: Int?
    /// The share of the connections that are closed in the middle of the handshake.
    package var brokenHandshakes: Double = 0
    /// True closes the connection at an unknown command without a reply.
    package var closesAtUnknownCommand = false
    /// The delay between the arrival of a connection and the start of its handshake.
    package var acceptDelay = Latency.none
    /// True puts the notification's identifier into a reply about an empty token. False puts 0 there.
    package var namesEmptyTokens = false

    package init() {}
}

/// The faults of the binary interface on all addresses and on single addresses.
package struct AddressedFaults: Hashable, Sendable {
    package private(set) var general = BinaryFaults()
    private(set) var single: [String: BinaryFaults] = [:]

    package subscript(address: String) -> BinaryFaults { single[address] ?? general }

    /// - Parameter address: the address to change; nil changes all addresses, including single ones.
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
    /// True if all faults are as at the start.
    var isCalm: Bool { self == AddressedFaults() }

    /// Writes the changed faults as members of a JSON object. Faults of single addresses are below `at`.
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
