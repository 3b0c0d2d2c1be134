/// How many workers a host runs.
package enum WorkerCount: Sendable, Equatable, CustomStringConvertible {
    case fixed(Int)
    /// From one to one a processor, as the load has it.
    case auto

    package static let range = 1...256

    /// As many as there may be.
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
