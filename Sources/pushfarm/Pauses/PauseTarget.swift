import PushModel

/// The app, shard, job or token that a command pauses or resumes.
enum PauseTarget: Sendable {
    case app(String)
    case shard(Int, app: String)
    case job(String, app: String)
    case token([UInt8], app: String)

    var app: String {
        switch self {
        case .app(let app), .shard(_, let app), .job(_, let app), .token(_, let app): app
        }
    }

    var text: String {
        switch self {
        case .app(let app): app
        case .shard(let shard, let app): "shard \(shard) of \(app)"
        case .job(let job, let app): "job \(job) of \(app)"
        case .token(let token, let app): "token \(Hexadecimal.text(of: token)) of \(app)"
        }
    }

    /// The field that names the target in a report, after the field `app`; nil for an app.
    var field: JSONValue.Field? {
        switch self {
        case .app: nil
        case .shard(let shard, _): .init(name: "shard", value: .number(shard))
        case .job(let job, _): .init(name: "job", value: .string(job))
        case .token(let token, _): .init(name: "token", value: .string(Hexadecimal.text(of: token)))
        }
    }
}
