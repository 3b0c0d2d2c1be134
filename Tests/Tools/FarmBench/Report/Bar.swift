import BenchKit

/// The target of a figure.
package enum Bar: Codable, Sendable, Hashable {
    case atMost(Double)
    case atLeast(Double)

    package func isReached(by value: Double) -> Bool {
        switch self {
        case .atMost(let limit): value <= limit
        case .atLeast(let limit): value >= limit
        }
    }

    package var limit: Double {
        switch self {
        case .atMost(let limit), .atLeast(let limit): limit
        }
    }

    package var text: String {
        switch self {
        case .atMost(let limit): "≤ \(limit.brief)"
        case .atLeast(let limit): "≥ \(limit.brief)"
        }
    }
}
