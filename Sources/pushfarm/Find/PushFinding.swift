import FarmLogging

/// Where a push is, or what became of it.
struct PushFinding: Sendable {
    enum Place: String, Sendable {
        case inbox, taken, ready, bulk, delayed, paused, reported, suppressed, audit, event
        case flight = "in flight"
        case deadLetter = "dead letter"
    }

    let app: String
    let place: Place
    /// Nil: the job has no id yet.
    var job: String?
    /// Lower-case hex.
    var token: String?
    /// The push's `apns-id`.
    var id: String?
    /// Unix milliseconds: since when, or when it is due.
    var at: Int64?
    /// More, in the words of the place.
    var details: [(name: String, value: String)] = []

    var json: JSONValue {
        var fields: [JSONValue.Field] = [
            .init(name: "app", value: .string(app)), .init(name: "place", value: .string(place.rawValue)),
            .init(name: "job", value: .text(job)), .init(name: "token", value: .text(token)),
            .init(name: "apns_id", value: .text(id)),
            .init(name: "at", value: at.map { .number($0) } ?? .null),
        ]
        fields += details.map { .init(name: $0.name, value: .string($0.value)) }
        return .object(fields)
    }

    func add(to table: inout Table) {
        var words = details.map { "\($0.name) \($0.value)" }
        if let id { words.append("apns-id \(id)") }
        table.add(
            .init(at.map { "\(Timestamp(milliseconds: $0))" } ?? "now"), .init(app),
            .init(place.rawValue, place.paint), .init(PlainText.of(job ?? "")),
            .init(PlainText.of(words.joined(separator: ", "), limit: 300)))
    }
}

extension PushFinding.Place {
    fileprivate var paint: Paint? {
        switch self {
        case .deadLetter, .suppressed, .paused: .red
        case .delayed: .yellow
        default: nil
        }
    }
}
