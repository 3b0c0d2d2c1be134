/// What a job may hold.
package enum JobSchema {
    /// The names of a job's fields.
    package static var fields: [String] { JobField.allCases.map(\.name) }
}

/// The fields of a job, named as in its JSON.
enum JobField: Int, CaseIterable {
    case id, tokens, payload, pushes, app, pushType, priority, ttl, expiresAt, collapseID, topic, lane,
        deliverAt
    case receipts, delivery, maxAttempts, registeredAt, replayOf

    private static let names = [
        "id", "tokens", "payload", "pushes", "app", "push_type", "priority", "ttl", "expires_at",
        "collapse_id",
        "topic", "lane", "deliver_at", "receipts", "delivery", "max_attempts", "registered_at",
        "replay_of",
    ]

    var name: String { Self.names[rawValue] }

    init?(name: String) {
        guard let index = Self.names.firstIndex(of: name) else { return nil }
        self.init(rawValue: index)
    }

    /// What to say about a field that no job has.
    static func advice(for name: String) -> String {
        switch name.lowercased() {
        case "aps": return "put it inside \"payload\""
        case "apns-priority": return "use \"priority\""
        case "apns-collapse-id": return "use \"collapse_id\""
        case "apns-expiration": return "use \"expires_at\" or \"ttl\""
        case "apns-topic": return "use \"topic\""
        case "apns-push-type": return "use \"push_type\""
        case "apns-id": return "the farm makes it; \"id\" names the job"
        default: break
        }
        if let nearest = NearestWord.find(name, among: names) { return "did you mean \"\(nearest)\"?" }
        return "the fields are " + names.joined(separator: ", ")
    }
}
