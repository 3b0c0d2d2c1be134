/// How many workers a host runs.
package enum WorkerCount: Sendable, Equatable, CustomStringConvertible {
    case fixed(Int)
    /// One a processor.
    case auto

    package static let range = 1...256

    package func count(processors: Int) -> Int {
        switch self {
        case .fixed(let count): count
        case .auto: min(max(processors, Self.range.lowerBound), Self.range.upperBound)
        }
    }

    package var description: String {
        switch self {
        case .fixed(let count): String(count)
        case .auto: "auto"
        }
    }
}
