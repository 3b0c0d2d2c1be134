import Glibc
import PushModel

/// Random numbers of one device. A number depends only on the seed, the token, the purpose and the index, so other devices do
/// not change it.
struct DeviceDraw {
    enum Purpose: UInt64 {
        case profile = 1
        case phase, network, charging, lowPower, opens, openingTime, forceQuit, bandwidth, push
    }

    /// A hash of the token with the seed.
    let hash: UInt64

    /// A number in 0..<1.
    func fraction(_ purpose: Purpose, _ index: UInt32 = 0) -> Double {
        Self.fraction(numbers(purpose, index))
    }

    /// A number with the standard normal distribution, by the Box–Muller method.
    func normal(_ purpose: Purpose, _ index: UInt32 = 0) -> Double {
        var numbers = numbers(purpose, index)
        return (-2 * log(1 - numbers.fraction())).squareRoot() * cos(2 * .pi * numbers.fraction())
    }

    private func numbers(_ purpose: Purpose, _ index: UInt32) -> SeededRandom {
        SeededRandom(
            seed: hash ^ SeededRandom.number(at: purpose.rawValue << 32 | UInt64(index)))
    }

    private static func fraction(_ numbers: SeededRandom) -> Double {
        var numbers = numbers
        return numbers.fraction()
    }
}
