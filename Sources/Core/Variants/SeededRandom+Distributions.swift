import Glibc
import PushModel

extension SeededRandom {
    /// Returns a uniformly distributed index in 0..<count.
    mutating func index(below count: Int) -> Int {
        min(count - 1, Int(clamping: fraction() * Double(count)))
    }

    /// Returns a sample of the beta distribution; both parameters are at least 1.
    mutating func beta(_ a: Double, _ b: Double) -> Double {
        let (x, y) = (gamma(shape: a), gamma(shape: b))
        return x / (x + y)
    }

    /// Returns a sample of the gamma distribution with scale 1; `shape` is at least 1.
    /// - Source: Marsaglia and Tsang, "A simple method for generating gamma variables" (2000).
    private mutating func gamma(shape: Double) -> Double {
        let d = shape - 1.0 / 3
        let c = 1 / (9 * d).squareRoot()
        while true {
            let x = normal()
            let root = 1 + c * x
            guard root > 0 else { continue }
            let v = root * root * root
            if log(1 - fraction()) < 0.5 * x * x + d - d * v + d * log(v) { return d * v }
        }
    }

    /// Returns a sample of the standard normal distribution by the Box–Muller method.
    private mutating func normal() -> Double {
        (-2 * log(1 - fraction())).squareRoot() * cos(2 * .pi * fraction())
    }
}
