import Testing

/// How many came in every stretch of time.
enum Rate {
    /// No stretch of these moments has more of them than the rate a second allows, and a burst.
    ///
    /// A gateway that stands still, because the machine has no processor for it, reads afterwards what came meanwhile. Such
    /// a time shows as a gap, and what follows may make it up, but not often in one run; a short one does not show.
    /// - Parameter times: in milliseconds, while there was always something to send.
    static func expect(
        _ times: [Int64], atMost rate: Double, burst: Double,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        if let fault = fault(times, rate: rate, burst: burst) {
            Issue.record("\(fault)", sourceLocation: sourceLocation)
        }
    }

    /// What is wrong with these moments.
    static func fault(_ times: [Int64], rate: Double, burst: Double) -> String? {
        guard var last = times.min() else { return "none" }
        // In seconds; at least some three pushes' time.
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
