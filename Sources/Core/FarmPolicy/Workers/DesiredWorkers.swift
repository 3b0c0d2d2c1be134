/// How many workers a host is to run.
package enum DesiredWorkers: Equatable, Sendable {
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

    /// The error message for a text that is neither a number of workers nor a step such as +1.
    /// - Parameter most: workers that the host carries.
    package static func complaint(_ text: String, most: Int) -> String {
        let digits = text.first == "+" || text.first == "-" ? text.dropFirst() : text[...]
        guard !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            return "\(words), not \(text)"
        }
        return digits.utf8.allSatisfy { $0 == UInt8(ascii: "0") }
            ? "workers: at least 1, not \(text)"
            : "workers: \(text) is beyond what is allowed; this machine carries at most \(most)"
    }

    /// The accepted values, for error messages.
    package static var words: String { "workers: N, +N, -N, auto or default" }

    /// The most workers that a command can request: the configuration may request more.
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
