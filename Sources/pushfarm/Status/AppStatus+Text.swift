import RedisClient
import StoreProtocol

extension AppStatus {
    /// The settings of operators and the refusals of producers, one line each.
    var wishes: [String] {
        var lines: [String] = []
        if refusedLastMinute > 0 {
            let jobs = refusedLastMinute == 1 ? "1 job was" : "\(refusedLastMinute) jobs were"
            lines.append("\(app): \(jobs) refused in the last minute, see pushfarm refused list")
        }
        switch standing.rate {
        case nil: break
        case .off: lines.append("\(app): no rate limit, set by \(standing.rateBy ?? "an operator")")
        case .limit(let rate):
            lines.append(
                "\(app): at most \(Figures.perTime(rate)), by \(standing.rateBy ?? "an operator")")
        }
        if let admission = standing.admission {
            lines.append(
                "\(app): \(admission.rawValue) to producers, by \(standing.admissionBy ?? "an operator")")
        }
        if standing.cancels > 0 {
            lines.append("\(app): \(standing.cancels) job\(standing.cancels == 1 ? "" : "s") being cancelled")
        }
        return lines
    }
}

extension FullReason {
    /// For a person.
    var text: String {
        switch self {
        case .memory: "the memory of Redis is nearly full; producers must wait"
        case .backlog: "max_backlog pushes are open; producers must wait"
        case .inbox: "its inbox has reached max_inbox or max_inbox_bytes; producers must wait"
        case .operator: "an operator has closed admission; producers must wait"
        }
    }

    /// Why a job was not taken.
    /// - Parameter reason: as Redis or this program gave it.
    static func words(_ reason: String, _ app: String) -> String {
        FullReason(rawValue: reason) == .operator
            ? "an operator has closed \(app) to producers" : "the farm is full (\(reason))"
    }
}
