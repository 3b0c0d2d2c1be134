import FarmHarness
import Foundation

/// The simulator's own counters.
struct SimulatorCount: Decodable {
    struct Side: Decodable {
        var accepted = 0
        var refused: Int?
        var discarded: Int?
        var connections = 0
        var openConnections = 0
        var mostConnections: Int?
        var distinctTokens: Int?
    }

    private let binary: Side
    private let http2: Side

    init(from decoder: any Decoder) throws {
        http2 = try Side(from: decoder)
        binary = try decoder.container(keyedBy: Key.self).decode(Side.self, forKey: .binary)
    }

    private enum Key: CodingKey { case binary }

    func side(_ path: GatewayPath) -> Side { path == .binary ? binary : http2 }
}

/// The interfaces of the simulator that accept pushes.
package enum GatewayPath: Sendable {
    case binary
    case http2
}

extension Gateway {
    func count(_ path: GatewayPath) throws -> SimulatorCount.Side {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        return try decoder.decode(SimulatorCount.self, from: Data(control("counters").utf8)).side(path)
    }

    /// Starts a simulator that counts different tokens.
    static func counting(
        in folder: String, _ experiment: Experiment, seed: Int = 1, prefix: [String] = []
    ) async throws -> Gateway {
        try await Gateway(
            in: folder, faults: experiment.faults,
            options: ["--binary-port", "0", "--count-distinct", "--seed", "\(seed)"], prefix: prefix,
            hasLedger: false)
    }
}
