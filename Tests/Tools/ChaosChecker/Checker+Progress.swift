/// How soon deliveries went on after a fault, and when all was done.
extension Checker {
    mutating func checkProgress() {
        let deliveries = evidence.gateway.lazy.filter { $0.status == 200 }.map(\.at).sorted()
        for fault in evidence.faults {
            // Whether there was something to do just then is only known if something came of it.
            guard let next = deliveries.first(where: { $0 >= fault.until }) else { continue }
            let time = next - fault.until
            verdict.recovery = max(verdict.recovery, time)
            if let limit = expectation.recovery, time > limit {
                verdict.complain(.stalled, "\(time) ms without a delivery after \(fault.what)")
            }
        }
        let ends = book.jobs.values.compactMap { $0.account?["finished_at"].flatMap { Int64($0) } }
        if let last = evidence.faults.map(\.until).max(), let end = ends.max() {
            verdict.finishedAfter = max(0, end - last)
        }
    }
}
