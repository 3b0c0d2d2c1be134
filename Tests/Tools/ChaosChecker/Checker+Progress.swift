/// Checks how soon deliveries resume after a fault, and when everything is finished.
extension Checker {
    mutating func checkProgress() {
        let deliveries = evidence.gateway.lazy.filter { $0.status == 200 }.map(\.at).sorted()
        for fault in evidence.faults {
            // If no delivery follows the fault, perhaps no pushes were left, so the checker does not complain.
            guard let next = deliveries.first(where: { $0 >= fault.until }) else { continue }
            let time = next - fault.until
            verdict.recovery = max(verdict.recovery, time)
            if let limit = expectation.recovery, time > limit {
                verdict.complain(.stalled, "\(time) ms without a delivery after \(fault.what)")
            }
        }
        let ends = pushes.jobs.values.compactMap { $0.jobRecord?["finished_at"].flatMap { Int64($0) } }
        if let last = evidence.faults.map(\.until).max(), let end = ends.max() {
            verdict.finishedAfter = max(0, end - last)
        }
    }
}
