/// How many workers a host is to run.
package enum StaffWish: Equatable, Sendable {
    case fixed(Int)
    case auto

    /// `N` or `auto`; nil for anything else.
    package init?(_ text: String) {
        if text == "auto" {
            self = .auto
        } else if let number = Int(foreign: text), number > 0 {
            self = .fixed(number)
        } else {
            return nil
        }
    }

    /// How many workers a host can be told to run from outside: its configuration may say more.
    ///
    /// A worker uses one processor at most and some 20 MB; so many more than there are processors only wait for each other.
    /// - Parameters:
    ///   - memory: of the machine, or what this service may take of it, in bytes; 0: it is not known.
    ///   - configured: what the host's own configuration says.
    package static func most(processors: Int, memory: UInt64, configured: Int) -> Int {
        let byMemory = memory == 0 ? 256 : Int(clamping: memory / (64 << 20))
        let bound = max(1, min(min(max(1, processors), 32) * workersPerProcessor, byMemory, 256))
        return max(bound, min(configured, 256))
    }

    package static let workersPerProcessor = 8

    package var text: String {
        switch self {
        case .fixed(let number): "\(number)"
        case .auto: "auto"
        }
    }
}
