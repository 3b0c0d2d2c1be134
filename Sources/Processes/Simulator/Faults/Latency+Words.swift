extension Latency {
    /// `20ms`, `5ms-50ms` or `p50=20ms p99=300ms`.
    init(_ words: inout FaultWords) throws(SimulatorError) {
        guard let p50 = try words.value(of: "p50"), let p99 = try words.value(of: "p99") else {
            self = try Latency(try words.next("a time, such as 20ms, 5ms-50ms, or p50=20ms p99=300ms"))
            return
        }
        let (half, most) = (try FaultWords.milliseconds(p50), try FaultWords.milliseconds(p99))
        guard half > 0, most >= half else {
            throw .unusable("p50 must be above 0, and p99 not below p50")
        }
        self = .skewed(p50: half, p99: most)
    }

    /// `20ms` or `5ms-50ms`.
    init(_ word: String) throws(SimulatorError) {
        let bounds = word.split(separator: "-")
        let low = try FaultWords.milliseconds(bounds.first ?? "")
        guard bounds.count == 2 else {
            self = .fixed(milliseconds: low)
            return
        }
        let high = try FaultWords.milliseconds(bounds[1])
        guard high >= low else { throw .unusable("the second time is below the first") }
        self = .uniform(low, high)
    }
}
