import Testing

/// Checks the rate of arrivals in every interval.
enum Rate {
    /// Expects that no interval has more arrivals than rate and burst allow.
    ///
    /// If a gateway gets no CPU time for a while, it afterwards reads all waiting pushes at once, which looks like a broken rate.
    /// So after a gap without arrivals, the rate may allow the pushes of the whole gap at once, but only a few times in one run.
    /// The check cannot recognise a gap that is not much longer than the usual time between two pushes.
    /// - Parameter times: times of arrival in milliseconds. The farm must have pushes to send during the whole time.
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
        // The check cannot distinguish a gap of up to this number of seconds from usual intervals. The number is at least the
        // time of three pushes.
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
