/// The number of workers that a host should run.
package enum DesiredWorkers: Equatable, Sendable {
    case fixed(Int)
    case auto

    /// Parses `N` or `auto`; nil for anything else.
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
    /// - Parameter most: the largest number of workers on this host.
    package static func problem(_ text: String, most: Int) -> String {
        let digits = text.first == "+" || text.first == "-" ? text.dropFirst() : text[...]
        guard !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            return "\(words), not \(text)"
        }
        return digits.utf8.allSatisfy { $0 == UInt8(ascii: "0") }
            ? "workers: at least 1, not \(text)"
            : "workers: \(text) is beyond what is allowed; this machine supports at most \(most)"
    }

    /// The accepted values, for error messages.
    package static var words: String { "workers: N, +N, -N, auto or default" }

    /// The largest number of workers that a command can request. The configuration may request more.
    ///
    /// A worker uses at most one processor and about 20 MB. If a host has many more workers than processors, the workers only
    /// wait for each other.
    /// - Parameters:
    ///   - memory: the memory of the machine, or the part that the farm may use, in bytes; 0 when unknown.
    ///   - configured: the number in the host's configuration.
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
