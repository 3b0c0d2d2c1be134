package import FarmPolicy

extension BackOff {
    /// The delays between attempts to reach Redis: 50 ms, doubling to 1 s. Up to half of each delay is random.
    package static let redis = BackOff(first: .milliseconds(50), longest: .seconds(1))

    /// Counts a failure, and returns the delay before the next attempt.
    package mutating func failed() -> Duration {
        var random = SystemRandomNumberGenerator()
        return failed(using: &random)
    }
}
