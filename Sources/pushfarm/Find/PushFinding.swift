import FarmLogging
import PushModel

/// Where a push is now, or which outcome it has.
struct PushFinding: Sendable {
    enum Location: String, Sendable {
        case inbox, taken, ready, bulk, delayed, paused, reported, suppressed, audit, event
        case flight = "in flight"
        case deadLetter = "dead letter"
    }

    let app: String
    let location: Location
    /// The job's id, or nil when the job has no id yet.
    var job: String?
    /// The token in lower-case hex.
    var token: String?
    /// The push's `apns-id`.
    var id: String?
    /// For a delayed push, when it is due. For other pushes, since when they are at this location. In Unix
    /// milliseconds; nil if unknown.
    var at: Int64?
    /// Further details, which depend on the location.
    var details: [(name: String, value: String)] = []

    var json: JSONValue {
        let fields = JSONValue.fields([
            "app": .string(app), "place": .string(location.rawValue), "job": .text(job),
            "token": .text(token), "apns_id": .text(id), "at": .whole(at),
        ])
        return .object(fields + details.map { .init(name: $0.name, value: .string($0.value)) })
    }

    func add(to table: inout Table) {
        var words = details.map { "\($0.name) \($0.value)" }
        if let id { words.append("apns-id \(id)") }
        table.add(
            .init(at.map { "\(Timestamp(milliseconds: $0))" } ?? "now"), .init(app),
            .init(location.rawValue, location.paint), .init(PlainText.of(job ?? "")),
            .init(PlainText.of(words.joined(separator: ", "), limit: 300)))
    }
}

extension PushFinding {
    /// Describes a push to the token `bytes`. Its `apns-id` is computed from the job and the token.
    init(
        app: String, location: Location, job: String?, pushTo bytes: ArraySlice<UInt8>, at: Int64? = nil,
        details: [(name: String, value: String)] = []
    ) {
        let id = job.map { job in bytes.withUnsafeBytes { PushID.Job(id: job).pushID(token: $0) }.description
        }
        self.init(
            app: app, location: location, job: job, token: Hexadecimal.text(of: bytes), id: id, at: at,
            details: details)
    }
}

extension PushFinding.Location {
    fileprivate var paint: Paint? {
        switch self {
        case .deadLetter, .suppressed, .paused: .red
        case .delayed: .yellow
        default: nil
        }
    }
}

/// The push or the device token that a command searches for.
enum SearchTarget: Sendable {
    case token([UInt8])
    case push(PushID)

    /// The shards that may contain the push.
    func shards(of count: Int) -> [Int] {
        switch self {
        case .token(let token): [ShardHash.shard(of: token, shards: count)]
        case .push: Array(0..<count)
        }
    }

    /// The positions in a batch at which the push may be, counted from 0.
    func positions(in batch: Batch) -> [Int] {
        switch self {
        case .token(let token):
            return batch.pushes.indices.filter { batch.bytes[batch.pushes[$0].token].elementsEqual(token) }
        case .push(let id):
            var found: [Int] = []
            for (index, jobPart) in batch.jobParts.enumerated() {
                let marker = PushID.Job(id: batch.jobID(of: index))
                for position in jobPart.pushes {
                    let token = batch.bytes[batch.pushes[position].token]
                    if token.withUnsafeBytes({ marker.pushID(token: $0) }) == id { found.append(position) }
                }
            }
            return found
        }
    }

    func isToken(_ token: ArraySlice<UInt8>, of job: String?) -> Bool {
        switch self {
        case .token(let wanted): wanted.elementsEqual(token)
        case .push(let id):
            job.map { job in token.withUnsafeBytes { PushID.Job(id: job).pushID(token: $0) } == id } ?? false
        }
    }

    /// The number that stands for the push of a job in the audit of outcomes.
    func mark(in job: String) -> UInt64 {
        switch self {
        case .token(let token): token.withUnsafeBytes { PushID.Job(id: job).mark(token: $0) }
        case .push(let id): id.mark
        }
    }
}
