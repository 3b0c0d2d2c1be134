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
