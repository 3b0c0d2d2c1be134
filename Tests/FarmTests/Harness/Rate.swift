import Testing

/// Checks the rate of arrivals in every interval.
enum Rate {
    /// Expects that no interval has more arrivals than rate and burst allow.
    ///
    /// A gateway without CPU time reads the input of that time afterwards. Such a time shows as a gap. Later arrivals may make up
    /// for a gap, but not often in one run. Short gaps are not visible.
    /// - Parameter times: times of arrival in milliseconds. There must always be pushes to send.
    static func expect(
        _ times: [Int64], atMost rate: Double, burst: Double,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        if let fault = fault(times, rate: rate, burst: burst) {
            Issue.record("\(fault)", sourceLocation: sourceLocation)
        }
    }

    /// Returns the violations of the rate.
    static func fault(_ times: [Int64], rate: Double, burst: Double) -> String? {
        guard var last = times.min() else { return "none" }
        // The longest invisible gap in seconds. It is at least the time of three pushes.
        let unseen = max(0.25, 3 / rate)
        let most = burst + rate * unseen
        var (credit, gaps) = (most, 0)
        for (index, time) in times.sorted().enumerated() {
            let pause = Double(time - last) / 1000
            last = time
            if pause > unseen {
                gaps += 1
                credit += rate * pause
            } else {
                credit = max(credit, min(most, credit + rate * pause))
            }
            credit -= 1
            if credit < 0 { return "too many at the \(index + 1)th, behind \(gaps) gaps" }
        }
        return gaps > 5 ? "\(gaps) gaps" : nil
    }
}
