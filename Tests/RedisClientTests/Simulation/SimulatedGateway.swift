import PushModel

/// A gateway that records all accepted pushes. At the end of the run the simulation compares this record with Redis.
final class SimulatedGateway {
    enum Response: Equatable { case delivered, failed, throttled, unknown, unprocessed }

    /// The turn of a response with status 200. `isForgotten` means that Redis has lost its data of this turn.
    struct Acceptance {
        let turn: Int
        var isForgotten: Bool
    }

    /// The acceptances of each token.
    private(set) var accepted: [[UInt8]: [Acceptance]] = [:]
    /// Tokens that crash the worker that sends them.
    var poison: Set<[UInt8]> = []

    /// The final response to a token, which depends on the token only; nil if the deadline of the token's push has passed before
    /// any send.
    static func response(_ token: [UInt8]) -> Response? {
        switch XXH64.hash(token, seed: 77) % 100 {
        case 0..<80: .delivered
        case 80..<92: .failed
        default: nil
        }
    }

    /// Whether a failed push to the token fails because the token is invalid. Otherwise it becomes a dead letter.
    static func isTokenAtFault(_ token: ArraySlice<UInt8>) -> Bool { (token.last ?? 0) % 2 == 0 }

    /// - Parameter trouble: a number below 100 that selects the fault.
    func send(_ token: [UInt8], attempt: UInt8, trouble: Int, at turn: Int, isForgotten: Bool) -> Response {
        if trouble < 2 { return .unprocessed }
        let share = XXH64.hash(token, seed: 78) % 10
        if (share == 0 && attempt < 1) || (share == 1 && attempt < 2) { return .throttled }
        let response = Self.response(token) ?? .failed
        if response == .delivered {
            accepted[token, default: []].append(Acceptance(turn: turn, isForgotten: isForgotten))
        }
        return trouble < 5 ? .unknown : response
    }

    /// Redis was restored to its state at the end of this turn.
    func redisWentBack(to turn: Int) {
        for (token, list) in accepted where list.contains(where: { $0.turn > turn }) {
            accepted[token] = list.map {
                Acceptance(turn: $0.turn, isForgotten: $0.isForgotten || $0.turn > turn)
            }
        }
    }

    func times(_ token: [UInt8]) -> Int { accepted[token]?.count ?? 0 }
    /// The number of acceptances that Redis has not forgotten.
    func timesKnown(_ token: [UInt8]) -> Int { accepted[token]?.count { !$0.isForgotten } ?? 0 }
}
