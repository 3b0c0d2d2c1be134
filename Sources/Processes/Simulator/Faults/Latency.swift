#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// How long an answer waits.
package enum Latency: Hashable, Sendable {
    case none
    case fixed(milliseconds: Double)
    /// Evenly between two bounds, milliseconds.
    case uniform(Double, Double)
    /// Log-normal, given by the times that half and 99 % of the answers stay below, milliseconds.
    case skewed(p50: Double, p99: Double)

    /// The next waiting time in milliseconds.
    func draw(_ random: inout RandomSource) -> Double {
        switch self {
        case .none: 0
        case .fixed(let milliseconds): milliseconds
        case .uniform(let low, let high): low + (high - low) * random.fraction()
        case .skewed(let p50, let p99): p50 * exp(log(p99 / p50) / 2.326_348 * Self.normal(&random))
        }
    }

    /// One normally distributed number (Box and Muller).
    private static func normal(_ random: inout RandomSource) -> Double {
        let radius = (-2 * log(1 - random.fraction())).squareRoot()
        return radius * cos(2 * .pi * random.fraction())
    }
}

extension Latency: CustomStringConvertible {
    package var description: String {
        switch self {
        case .none: "off"
        case .fixed(let milliseconds): "\(milliseconds)ms"
        case .uniform(let low, let high): "\(low)ms-\(high)ms"
        case .skewed(let p50, let p99): "p50=\(p50)ms p99=\(p99)ms"
        }
    }
}
