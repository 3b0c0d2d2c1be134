/// A job record from `pushfarm job ID --json`. Decoding fails if a field is missing.
struct JobRecord: Decodable, Equatable {
    var id: String
    var app: String
    var state: String
    var submitted: Int
    var accepted: Int
    var malformed: Int
    var duplicates: Int
    var unknownRecipients: Int
    var capped: Int
    var delivered: Int
    var failed: Int
    var expired: Int
    var cancelled: Int
    var queued: Int
    var inFlight: Int
    var delayed: Int
    var maybeDuplicated: Int
    var createdAt: Int64
    var finishedAt: Int64?
    var reasons: [String: Int]

    private enum CodingKeys: String, CodingKey {
        case id, app, state, submitted, accepted, malformed, duplicates, delivered, failed, expired,
            cancelled,
            queued, delayed, reasons
        case inFlight = "in_flight"
        case capped
        case unknownRecipients = "unknown_recipients"
        case maybeDuplicated = "maybe_duplicated"
        case createdAt = "created_at"
        case finishedAt = "finished_at"
    }

    /// Reads the record of a finished job from the fields of its Redis hash.
    init(id: String, app: String, record: [String: String]) {
        func number(_ name: String) -> Int { record[name].flatMap { Int($0) } ?? 0 }
        (self.id, self.app) = (id, app)
        state = record["state"] ?? ""
        (submitted, accepted) = (number("submitted"), number("accepted") - number("adding"))
        (malformed, duplicates) = (number("malformed"), number("duplicates"))
        unknownRecipients = number("unknown_recipients")
        capped = number("capped")
        (delivered, failed) = (number("delivered"), number("failed"))
        (expired, cancelled) = (number("expired"), number("cancelled"))
        (queued, inFlight, delayed) = (0, 0, 0)
        maybeDuplicated = number("maybe_duplicated")
        createdAt = Int64(number("created_at"))
        finishedAt = record["finished_at"].flatMap { Int64($0) }
        let counts = record.filter { $0.key.hasPrefix("reason:") }
        reasons = Dictionary(
            counts.map { (String($0.key.dropFirst(7)), Int($0.value) ?? 0) }, uniquingKeysWith: +)
    }

    /// Whether the accounting holds. The accounting must hold at every moment.
    var addsUp: Bool {
        submitted == accepted + malformed + duplicates
            && accepted == delivered + failed + expired + cancelled + queued + inFlight + delayed
            && failed == reasons.values.reduce(0, +)
            && [queued, inFlight, delayed].allSatisfy { $0 >= 0 }
    }
}
