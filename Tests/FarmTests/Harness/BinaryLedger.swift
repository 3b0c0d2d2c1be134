import FarmHarness
import Foundation

/// The frames that reached the simulator's binary port.
struct BinaryLedger: CountsDeliveries {
    struct Line: Decodable {
        var connection: Int
        var frame: Int
        var command: Int
        var token: String?
        var outcome: String
    }

    let lines: [Line]

    init(file: String) throws { lines = try LedgerFile.decode(file) }

    /// The number of accepted pushes for each token.
    var deliveries: [String: Int] {
        lines.reduce(into: [:]) { counts, line in
            if line.outcome == "accepted", let token = line.token { counts[token, default: 0] += 1 }
        }
    }

    func count(_ outcome: String) -> Int { lines.count { $0.outcome == outcome } }
}

extension Gateway {
    func binaryLedger() throws -> BinaryLedger { try BinaryLedger(file: ledgerFile) }
}
