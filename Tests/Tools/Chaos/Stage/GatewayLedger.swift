import ChaosChecker
import FarmHarness
import Foundation

/// Reads the simulator's ledger.
enum GatewayLedger {
    private struct Line: Decodable {
        var time: Int64
        var connection: Int
        var stream: Int
        var token: String?
        var collapseId: String?
        var status: Int
        var reason: String?
        var bodySha256: String?
    }

    /// Reads the file outside the loop, so that the loop is not blocked.
    @concurrent static func read(_ file: String) async throws -> [GatewayNote] {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        return try LedgerFile.lines(file).map { text in
            let line = try decoder.decode(Line.self, from: text)
            return GatewayNote(
                at: line.time, connection: line.connection, stream: line.stream, job: line.collapseId ?? "",
                token: line.token ?? "", status: line.status, reason: line.reason ?? "",
                payload: line.bodySha256 ?? "")
        }
    }
}
