import OpenSSL
import PushModel
import StoreProtocol

/// Detects whether another live coordinator uses this host's name.
///
/// An existing heartbeat entry is no proof: a crashed coordinator's entry stays for some seconds, and a Redis that
/// lost its latest writes may show an entry that was already removed. Only an entry that is renewed proves that a
/// coordinator is live.
struct HostNameConflict {
    enum Observation: Equatable {
        case ours
        /// Another process has the name. If that process writes no heartbeat, its claim expires after this time.
        case held(for: Duration)
        case lost
    }

    /// When the other process's heartbeat entry expires, in Redis's milliseconds.
    private var end: Int64?

    mutating func observe(_ reply: Heartbeat.Reply) -> Observation {
        guard let remaining = reply.heldFor else {
            end = nil
            return .ours
        }
        let newEnd = reply.time + Int64(remaining.milliseconds)
        if let end, newEnd > end { return .lost }
        end = newEnd
        return .held(for: remaining)
    }
}

/// Makes the nonce of an owner of leases. No other owner has or had the same nonce.
enum Nonce {
    /// Makes 16 random hexadecimal digits.
    static func make() -> String { Hexadecimal.text(of: SecureRandom.bytes(8)) }
}
