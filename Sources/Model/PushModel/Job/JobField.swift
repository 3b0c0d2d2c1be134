/// The fields that a job may have.
package enum JobSchema {
    /// The names of a job's fields.
    package static var fields: [String] { JobField.allCases.map(\.name) }

    /// The fields that set the APNs header `name`, such as `apns-priority` or `apns_priority`; empty if no field sets it.
    package static func fields(ofHeader name: String) -> [String] { JobField.fieldNames(meantBy: name) }
}

/// The fields of a job, named as in its JSON.
enum JobField: Int, CaseIterable {
    case id, tokens, payload, translations, pushes, app, pushType, priority, ttl, expiresAt, collapseID,
        topic, lane,
        deliverAt
    case receipts, delivery, maxAttempts, registeredAt, replayOf, users, devices, unknownRecipients, capped
    case stored

    /// The fields that name the recipients of a job. A job has exactly one of these fields.
    static let recipients: [JobField] = [.pushes, .tokens, .users, .devices]

    private static let names = [
        "id", "tokens", "payload", "translations", "pushes", "app", "push_type", "priority", "ttl",
        "expires_at",
        "collapse_id",
        "topic", "lane", "deliver_at", "receipts", "delivery", "max_attempts", "registered_at",
        "replay_of", "users", "devices", "unknown_recipients", "capped", "stored",
    ]

    var name: String { Self.names[rawValue] }

    init?(name: String) {
        guard let index = Self.names.firstIndex(of: name) else { return nil }
        self.init(rawValue: index)
    }

    /// The fields that set the APNs header `name`. The name may have underscores in place of hyphens.
    static func fieldNames(meantBy name: String) -> [String] {
        switch plain(name) {
        case "apns-priority": ["priority"]
        case "apns-collapse-id": ["collapse_id"]
        case "apns-expiration": ["expires_at", "ttl"]
        case "apns-topic": ["topic"]
        case "apns-push-type": ["push_type"]
        default: []
        }
    }

    private static func plain(_ name: String) -> String {
        String(name.lowercased().map { $0 == "_" ? "-" : $0 })
    }

    static func advice(for name: String) -> String {
        let meant = fieldNames(meantBy: name)
        if !meant.isEmpty { return "use " + meant.map { "\"\($0)\"" }.joined(separator: " or ") }
        switch plain(name) {
        case "aps": return "put it inside \"payload\""
        case "apns-id": return "the farm makes it; \"id\" names the job"
        default: break
        }
        if let nearest = NearestWord.find(name, among: names) { return "did you mean \"\(nearest)\"?" }
        return "the fields are " + names.joined(separator: ", ")
    }
}

/// Why a job was refused, for the developer of the producer.
package struct JobError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The wrong field, such as `ttl` or `pushes[3].payload`; `job` for the job as a whole.
    package let field: String
    /// The offset of the fault in the job's bytes.
    package let position: Int
    /// A sentence that names the fault and tells the developer how to correct it.
    package let reason: String
    /// The id in the job; nil if the job has no valid id.
    package internal(set) var id: String?

    package init(field: String, position: Int, reason: String, id: String? = nil) {
        self.field = field
        self.position = position
        self.reason = reason
        self.id = id
    }

    package var description: String { "\(field): \(reason) (at byte \(position))" }
}
