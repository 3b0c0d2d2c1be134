import RedisClient
import StoreProtocol

extension AppStatus {
    /// What operators want of the app, and what producers do wrong, a line each, for a person.
    var wishes: [String] {
        var lines: [String] = []
        if refusedLastMinute > 0 {
            let jobs = refusedLastMinute == 1 ? "1 job was" : "\(refusedLastMinute) jobs were"
            lines.append("\(app): \(jobs) refused in the last minute, see pushfarm refused list")
        }
        switch standing.rate {
        case nil: break
        case .off: lines.append("\(app): no limit of the farm's, by \(standing.rateBy ?? "an operator")")
        case .limit(let rate):
            lines.append(
                "\(app): at most \(Figures.perTime(rate)), by \(standing.rateBy ?? "an operator")")
        }
        if let admission = standing.admission {
            lines.append(
                "\(app): \(admission.rawValue) to producers, by \(standing.admissionBy ?? "an operator")")
        }
        if standing.cancels > 0 {
            lines.append("\(app): \(standing.cancels) job\(standing.cancels == 1 ? "" : "s") called back")
        }
        return lines
    }
}
