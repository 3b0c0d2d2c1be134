import PushModel

/// The only judge of what was sent.
final class SimulatedGateway {
    enum Answer: Equatable { case delivered, failed, expired, throttled, unknown }

    /// How often each token got a 200.
    private(set) var accepted: [[UInt8]: Int] = [:]
    /// Tokens that crash the worker that sends them.
    var poison: Set<[UInt8]> = []

    /// How a token ends, whoever sends it.
    static func fate(_ token: [UInt8]) -> Answer {
        switch XXH64.hash(token, seed: 77) % 100 {
        case 0..<80: .delivered
        case 80..<92: .failed
        default: .expired
        }
    }

    func send(_ token: [UInt8], attempt: UInt8, isBroken: Bool) -> Answer {
        let patience = XXH64.hash(token, seed: 78) % 10
        if (patience == 0 && attempt < 1) || (patience == 1 && attempt < 2) { return .throttled }
        let fate = Self.fate(token)
        if fate == .delivered { accepted[token, default: 0] += 1 }
        return isBroken ? .unknown : fate
    }
}
