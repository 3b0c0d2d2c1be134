/// A job record from `pushfarm job ID --json`. Decoding fails if a field is missing.
struct Account: Decodable, Equatable {
    var id: String
    var app: String
    var state: String
    var submitted: Int
    var accepted: Int
    var malformed: Int
    var duplicates: Int
    var delivered: Int
    var failed: Int
    var expired: Int
    var cancelled: Int
    var queued: Int
    var inFlight: Int
    var waiting: Int
    var maybeDuplicated: Int
    var createdAt: Int64
    var finishedAt: Int64?
    var reasons: [String: Int]

    private enum CodingKeys: String, CodingKey {
        case id, app, state, submitted, accepted, malformed, duplicates, delivered, failed, expired,
            cancelled,
            queued, waiting, reasons
        case inFlight = "in_flight"
        case maybeDuplicated = "maybe_duplicated"
        case createdAt = "created_at"
        case finishedAt = "finished_at"
    }

    /// The accounting, which must hold at every instant.
    var addsUp: Bool {
        submitted == accepted + malformed + duplicates
            && accepted == delivered + failed + expired + cancelled + queued + inFlight + waiting
            && failed == reasons.values.reduce(0, +)
            && [queued, inFlight, waiting].allSatisfy { $0 >= 0 }
    }
}
