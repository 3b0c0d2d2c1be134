/// The sum of job records.
package struct BenchJobRecord: Hashable {
    package var accepted = 0
    package var delivered = 0
    package var maybeDuplicated = 0
    package var unfinished = 0
    /// When the last job was finished, in milliseconds since 1970.
    package var finishedAt = 0.0

    package init() {}

    /// - Parameter fields: state, accepted, delivered, maybe duplicated and finished at, in Redis's form.
    package mutating func add(_ fields: [String]) {
        guard fields.count == 5 else {
            unfinished += 1
            return
        }
        if fields[0] != "finished" { unfinished += 1 }
        accepted += Int(fields[1]) ?? 0
        delivered += Int(fields[2]) ?? 0
        maybeDuplicated += Int(fields[3]) ?? 0
        finishedAt = max(finishedAt, Double(fields[4]) ?? 0)
    }

    /// Complaints about counts that contradict the number of pushes or the number of pushes that the gateway accepted.
    package func complaints(pushes: Int, atGateway: Int, distinct: Int? = nil) -> [String] {
        var complaints: [String] = []
        if unfinished > 0 { complaints.append("\(unfinished) jobs are not finished") }
        if accepted != pushes { complaints.append("\(pushes) pushes, \(accepted) accepted") }
        if delivered != pushes { complaints.append("\(pushes) pushes, \(delivered) delivered") }
        if maybeDuplicated > 0 { complaints.append("\(maybeDuplicated) may be duplicates") }
        if atGateway != pushes { complaints.append("\(pushes) pushes, \(atGateway) at the gateway") }
        if let distinct, distinct != pushes {
            complaints.append("\(pushes) pushes, \(distinct) different tokens at the gateway")
        }
        return complaints
    }
}
