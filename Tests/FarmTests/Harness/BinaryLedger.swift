import FarmHarness
import Foundation

/// The frames that reached the simulator's binary port.
struct BinaryLedger {
    struct Line: Decodable {
        var connection: Int
        var frame: Int
        var command: Int
        var token: String?
        var outcome: String
    }

    let lines: [Line]

    init(file: String) throws {
        let decoder = JSONDecoder()
        lines = try LedgerFile.lines(file).map { try decoder.decode(Line.self, from: $0) }
    }

    /// Accepted pushes of each token.
    var deliveries: [String: Int] {
        lines.reduce(into: [:]) { counts, line in
            if line.outcome == "accepted", let token = line.token { counts[token, default: 0] += 1 }
        }
    }

    func count(_ outcome: String) -> Int { lines.count { $0.outcome == outcome } }

    /// The number of these tokens without an accepted push.
    func lost(of tokens: some Collection<String>) -> Int {
        let deliveries = deliveries
        return tokens.count { deliveries[$0] == nil }
    }

    /// Deliveries beyond the first of a token.
    var doubles: Int { deliveries.values.reduce(0) { $0 + $1 - 1 } }
}

extension Gateway {
    func binaryLedger() throws -> BinaryLedger { try BinaryLedger(file: ledgerFile) }
}
