import FarmHarness
import Foundation

/// The requests that reached the gateway. Tests count a push as delivered only if it is in this ledger.
struct Ledger: CountsDeliveries {
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

        // The keys are written out, because an automatic conversion from snake case is slower than the rest of the decoding.
        private enum CodingKeys: String, CodingKey {
            case time, connection, token, topic, priority, expiration, status, reason, warning, lost
            case apnsId = "apns_id"
            case pushType = "push_type"
            case collapseId = "collapse_id"
            case bodySha256 = "body_sha256"
        }
    }

    let lines: [Line]

    init(file: String) throws { lines = try LedgerFile.decode(file) }

    /// The number of accepted requests for each token, including requests with a lost response.
    var deliveries: [String: Int] {
        lines.reduce(into: [:]) { counts, line in
            if line.status == 200, let token = line.token { counts[token, default: 0] += 1 }
        }
    }

    /// The number of requests for each token, with any response.
    var requests: [String: Int] {
        lines.reduce(into: [:]) { counts, line in
            if let token = line.token { counts[token, default: 0] += 1 }
        }
    }

}

/// A record of the pushes that a gateway accepted.
protocol CountsDeliveries {
    /// The number of accepted pushes for each token.
    var deliveries: [String: Int] { get }
}

extension CountsDeliveries {
    /// The number of tokens in `tokens` without an accepted push.
    func lost(of tokens: some Collection<String>) -> Int {
        let deliveries = deliveries
        return tokens.count { deliveries[$0] == nil }
    }

    /// The number of deliveries beyond the first delivery of each token.
    var doubles: Int { deliveries.values.reduce(0) { $0 + $1 - 1 } }
}

extension Ledger {
    /// The different ids in the pushes of each token.
    var ids: [String: Set<String>] {
        lines.reduce(into: [:]) { ids, line in
            if let token = line.token, let id = line.apnsId { ids[token, default: []].insert(id) }
        }
    }
}

extension Gateway {
    func ledger() throws -> Ledger { try Ledger(file: ledgerFile) }
}
