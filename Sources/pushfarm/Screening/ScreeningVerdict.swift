/// What a screening has found out about a token.
enum ScreeningVerdict: Equatable, Sendable {
    /// The gateway took a push for it.
    case good
    /// Since Unix seconds, or found so then. `wasKnown`: it was suppressed, and nothing was sent.
    case invalid(reason: String, time: Int64, wasKnown: Bool)
    /// Neither is known.
    case open(reason: String, cause: String?)

    /// As a line of its file.
    func line(_ token: String) -> String {
        switch self {
        case .good: token
        case .invalid(let reason, let time, _): "\(token) \(reason) \(time)"
        case .open(let reason, let cause): token + " " + reason + (cause.map { " " + $0 } ?? "")
        }
    }
}
