import OpenSSL
import PushModel
import StoreProtocol

/// Tells whether a host's name belongs to another coordinator that lives.
///
/// A line in the registry proves little: one that has crashed leaves it for some seconds, and a Redis that went back in time
/// brings one back. One that is written again belongs to one that lives.
struct HostClaim {
    enum Observation: Equatable {
        case ours
        /// Another process has the name; its claim expires after so long without a heartbeat.
        case held(for: Duration)
        case lost
    }

    /// The end of another's line, in Redis's milliseconds.
    private var end: Int64?

    mutating func see(_ reply: Heartbeat.Reply) -> Observation {
        guard let left = reply.heldFor else {
            end = nil
            return .ours
        }
        let newEnd = reply.time + Int64(left.milliseconds)
        if let end, newEnd > end { return .lost }
        end = newEnd
        return .held(for: left)
    }
}

/// A name that no other owner of a lease has or had.
enum Nonce {
    /// 16 hexadecimal digits.
    static func make() -> String { Hexadecimal.text(of: SecureRandom.bytes(8)) }
}
