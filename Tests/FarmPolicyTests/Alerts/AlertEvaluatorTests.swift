import Testing

@testable import FarmPolicy

struct AlertEvaluatorTests {
    private static let start = ContinuousClock.now
    private static let paused = Alert(.appPaused, .app("demo"))
    private static let old = Alert(.backlogAge, .app("demo"))

    /// An alert evaluator that the test runs at chosen seconds, and the notices that it gives.
    private struct Course {
        var fixture = AlertEvaluator(again: .seconds(100))

        mutating func evaluate(_ second: Int, _ observations: [Alert: AlertEvaluator.Observation]) -> [String]
        {
            fixture.evaluate(observations, at: start + .seconds(second), clock: Int64(second) * 1000).map {
                "\($0.what.rawValue) \($0.alert.kind.rawValue) \($0.level) \($0.since / 1000)"
            }
        }
    }

    private static func bad(_ level: Int = 1) -> AlertEvaluator.Observation { .bad(level: level, text: "x") }

    @Test func `an alert fires once, repeats while it lasts, and clears`() {
        var course = Course()
        #expect(course.evaluate(0, [Self.paused: .good]).isEmpty)
        #expect(course.evaluate(1, [Self.paused: Self.bad()]) == ["fired app_paused 1 1"])
        for second in 2...100 { #expect(course.evaluate(second, [Self.paused: Self.bad()]).isEmpty) }
        #expect(course.evaluate(101, [Self.paused: Self.bad()]) == ["again app_paused 1 1"])
        #expect(course.evaluate(102, [Self.paused: Self.bad()]).isEmpty)
        #expect(course.evaluate(103, [Self.paused: .good]) == ["cleared app_paused 1 1"])
        #expect(course.evaluate(104, [Self.paused: .good]).isEmpty)
    }

    @Test func `an alert without values clears`() {
        var course = Course()
        #expect(course.evaluate(0, [Self.paused: Self.bad()]).count == 1)
        #expect(course.evaluate(1, [:]) == ["cleared app_paused 1 0"])
    }

    @Test func `an alert clears only after a period without trouble`() {
        var course = Course()
        #expect(course.evaluate(0, [Self.old: Self.bad()]).count == 1)
        #expect(course.evaluate(1, [Self.old: .good]).isEmpty)
        #expect(course.evaluate(9, [Self.old: Self.bad()]).isEmpty)
        #expect(course.evaluate(10, [Self.old: .good]).isEmpty)
        // The value is between the threshold for firing and the threshold for clearing, so the period without trouble starts
        // again.
        #expect(course.evaluate(15, [Self.old: .unclear]).isEmpty)
        #expect(course.evaluate(20, [Self.old: .good]).isEmpty)
        #expect(course.evaluate(29, [Self.old: .good]).isEmpty)
        #expect(course.evaluate(30, [Self.old: .good]) == ["cleared backlog_age 1 0"])
    }

    @Test func `a worse severity is notified at once and a better one is not`() {
        var course = Course()
        let alert = Alert(.credentialExpiring, .app("demo"))
        #expect(course.evaluate(0, [alert: Self.bad(1)]) == ["fired credential_expiring 1 0"])
        #expect(course.evaluate(5, [alert: Self.bad(3)]) == ["fired credential_expiring 3 0"])
        #expect(course.evaluate(6, [alert: Self.bad(2)]).isEmpty)
        #expect(course.evaluate(7, [alert: .good]) == ["cleared credential_expiring 2 0"])
    }

    @Test func `an alert that another host fired does not fire again but clears here`() {
        var course = Course()
        course.fixture.adopt(Self.paused, level: 1, text: "x", since: -5000, at: Self.start)
        #expect(course.evaluate(1, [Self.paused: Self.bad()]).isEmpty)
        #expect(course.evaluate(2, [Self.paused: .good]) == ["cleared app_paused 1 -5"])
    }

    @Test func `an alert that other hosts now report does not clear here`() {
        var course = Course()
        #expect(course.evaluate(0, [Self.paused: Self.bad()]).count == 1)
        course.fixture.forget { $0 == .app("demo") }
        #expect(course.evaluate(1, [:]).isEmpty)
    }

    @Test(arguments: [(101.0, "bad"), (100, "unclear"), (80, "unclear"), (79.9, "good"), (0, "good")])
    func `a value just below its limit is not good`(value: Double, word: String) {
        let sight = AlertEvaluator.Observation.above(100, value, text: "")
        #expect("\(sight)".hasPrefix(word))
    }

    @Test func `an id names its alert`() {
        for alert in [
            Self.paused, Alert(.hostGone, .farm, subject: "b"), Alert(.leaseLost, .host("a")),
            Alert(.workerCrashLoop, .host("a"), subject: "3"), Alert(.redisFull, .farm),
        ] { #expect(Alert(id: alert.id) == alert) }
        for text in ["", "app_paused", "no app demo ", "app_paused planet x ", "app_paused app demo x y"] {
            #expect(Alert(id: text) == nil)
        }
    }
}
