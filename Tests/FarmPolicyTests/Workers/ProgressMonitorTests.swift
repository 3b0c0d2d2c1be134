import FarmPolicy
import Testing

struct ProgressMonitorTests {
    /// An event of a connection and the expected result.
    enum Step: Sendable {
        case response(at: UInt32)
        case timeout(sentAt: UInt32)
        /// A check at a time: whether the stream limit allows pushes, and the expected stall.
        case check(allows: Bool, at: UInt32, ProgressMonitor.Stall?)
    }

    @Test(
        arguments: [
            (
                "never a response: the second timeout is enough",
                [
                    .timeout(sentAt: 0), .check(allows: true, at: 1000, nil), .timeout(sentAt: 1000),
                    .check(allows: true, at: 2000, .noResponse(2)),
                ]
            ),
            (
                "three in a row after a response",
                [
                    .response(at: 10), .timeout(sentAt: 20), .timeout(sentAt: 20),
                    .check(allows: true, at: 1020, nil),
                    .timeout(sentAt: 30), .check(allows: true, at: 1030, .noResponse(3)),
                ]
            ),
            (
                "a response in between begins again",
                [
                    .response(at: 10), .timeout(sentAt: 20), .timeout(sentAt: 20), .response(at: 1025),
                    .timeout(sentAt: 1026), .timeout(sentAt: 1026), .check(allows: true, at: 2030, nil),
                ]
            ),
            (
                "tokens without a response, while others have theirs",
                [
                    .response(at: 10), .timeout(sentAt: 5), .timeout(sentAt: 6), .timeout(sentAt: 7),
                    .timeout(sentAt: 9), .check(allows: true, at: 1010, nil),
                ]
            ),
            (
                "the clock wraps",
                [
                    .response(at: .max - 5), .timeout(sentAt: .max - 9), .timeout(sentAt: 3),
                    .timeout(sentAt: 4),
                    .check(allows: true, at: 1004, nil), .timeout(sentAt: 5),
                    .check(allows: true, at: 1005, .noResponse(3)),
                ]
            ),
            (
                "no streams for as long as a request may take",
                [
                    .check(allows: false, at: 500, nil), .check(allows: false, at: 1499, nil),
                    .check(allows: false, at: 1500, .noStreams),
                ]
            ),
            (
                "no streams, but responses to what is open",
                [
                    .check(allows: false, at: 500, nil), .response(at: 1400),
                    .check(allows: false, at: 1500, nil),
                    .check(allows: false, at: 2499, nil), .check(allows: false, at: 2500, .noStreams),
                ]
            ),
            (
                "streams again",
                [
                    .check(allows: false, at: 500, nil), .check(allows: true, at: 1000, nil),
                    .check(allows: false, at: 1600, nil), .check(allows: false, at: 2599, nil),
                ]
            ),
        ] as [(String, [Step])]) func `a connection stalls`(what: String, steps: [Step])
    {
        var watch = ProgressMonitor(timeout: 1000)
        for step in steps {
            switch step {
            case .response(let time): watch.responded(at: time)
            case .timeout(let time): watch.timedOut(sentAt: time)
            case .check(let allows, let time, let stall):
                #expect(watch.stall(allowsStreams: allows, at: time) == stall, "\(what), at \(time)")
            }
        }
    }
}
