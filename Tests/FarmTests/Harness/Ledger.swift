import FarmHarness
import Foundation

/// What came to the gateway: the only place where a delivery counts.
struct Ledger {
    struct Line: Decodable {
        var time: Int64
        var connection: Int
        var apnsId: String?
        var token: String?
        var topic: String?
        var pushType: String?
        var priority: String?
        var expiration: String?
        var collapseId: String?
        var status: Int
        var reason: String?
        var warning: String?
        var lost: Bool?
        var bodySha256: String?

        // Spelt out: to convert the names of all lines takes longer than to read them.
        private enum CodingKeys: String, CodingKey {
            case time, connection, token, topic, priority, expiration, status, reason, warning, lost
            case apnsId = "apns_id"
            case pushType = "push_type"
            case collapseId = "collapse_id"
            case bodySha256 = "body_sha256"
        }
    }

    let lines: [Line]

    init(file: String) throws {
        let decoder = JSONDecoder()
        lines = try LedgerFile.lines(file).map { try decoder.decode(Line.self, from: $0) }
    }

    /// Accepted requests a token, whether or not their answer got through.
    var deliveries: [String: Int] {
        lines.reduce(into: [:]) { counts, line in
            if line.status == 200, let token = line.token { counts[token, default: 0] += 1 }
        }
    }

    /// Requests a token, whatever the answer.
    var requests: [String: Int] {
        lines.reduce(into: [:]) { counts, line in
            if let token = line.token { counts[token, default: 0] += 1 }
        }
    }

    /// How many of these tokens got nothing.
    func lost(of tokens: some Collection<String>) -> Int {
        let deliveries = deliveries
        return tokens.count { deliveries[$0] == nil }
    }

    /// Deliveries beyond the first of a token.
    var doubles: Int { deliveries.values.reduce(0) { $0 + $1 - 1 } }
}

extension Ledger {
    /// The ids that a token's pushes had.
    var ids: [String: Set<String>] {
        lines.reduce(into: [:]) { ids, line in
            if let token = line.token, let id = line.apnsId { ids[token, default: []].insert(id) }
        }
    }
}

extension Gateway {
    func ledger() throws -> Ledger { try Ledger(file: ledgerFile) }
}
