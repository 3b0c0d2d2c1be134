import Testing

/// How many there were in every stretch of time.
enum Rate {
    /// No window of these moments, in milliseconds, has more of them than the rate a second allows, and some more.
    static func expect(
        _ times: [Int64], atMost rate: Double, and more: Double,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let times = times.sorted()
        #expect(!times.isEmpty, sourceLocation: sourceLocation)
        // How far each one is ahead of the rate: the worst window begins where that was least.
        var least = (ahead: Double.infinity, index: 0)
        for (index, time) in times.enumerated() {
            let ahead = Double(index) - rate * Double(time - times[0]) / 1000
            if ahead < least.ahead { least = (ahead, index) }
            guard ahead - least.ahead + 1 > more else { continue }
            let seconds = Double(time - times[least.index]) / 1000
            Issue.record("\(index - least.index + 1) in \(seconds) s", sourceLocation: sourceLocation)
            return
        }
    }
}
