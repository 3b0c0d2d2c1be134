import POSIX
import PushModel

/// The delay of a response.
package enum Latency: Hashable, Sendable {
    case none
    case fixed(milliseconds: Double)
    /// A uniform distribution between two bounds, in milliseconds.
    case uniform(Double, Double)
    /// A log-normal distribution, given by the median and the 99th percentile in milliseconds.
    case skewed(p50: Double, p99: Double)

    func draw(_ random: inout SeededRandom) -> Double {
        switch self {
        case .none: 0
        case .fixed(let milliseconds): milliseconds
        case .uniform(let low, let high): low + (high - low) * random.fraction()
        case .skewed(let p50, let p99): p50 * exp(log(p99 / p50) / 2.326_348 * Self.normal(&random))
        }
    }

    /// Returns one normally distributed random number (method of Box and Muller).
    private static func normal(_ random: inout SeededRandom) -> Double {
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

extension Latency {
    /// Reads `20ms`, `5ms-50ms` or `p50=20ms p99=300ms`.
    init(_ words: inout FaultWords) throws(SimulatorError) {
        guard let p50 = try words.value(of: "p50"), let p99 = try words.value(of: "p99") else {
            self = try Latency(try words.next("a time, such as 20ms, 5ms-50ms, or p50=20ms p99=300ms"))
            return
        }
        let (half, most) = (try FaultWords.milliseconds(p50), try FaultWords.milliseconds(p99))
        guard half > 0, most >= half else {
            throw .unusable("p50 must be above 0, and p99 must not be below p50")
        }
        self = .skewed(p50: half, p99: most)
    }

    /// Reads `20ms` or `5ms-50ms`.
    init(_ word: String) throws(SimulatorError) {
        let bounds = word.split(separator: "-")
        let low = try FaultWords.milliseconds(bounds.first ?? "")
        guard bounds.count == 2 else {
            self = .fixed(milliseconds: low)
            return
        }
        let high = try FaultWords.milliseconds(bounds[1])
        guard high >= low else { throw .unusable("the second time is below the first") }
        self = .uniform(low, high)
    }
}
