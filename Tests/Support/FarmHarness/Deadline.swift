import Foundation

/// The error if a condition was not true before its deadline.
package struct Overdue: Error, CustomStringConvertible {
    package let description: String

    package init(description: String) { self.description = description }
}

/// When a condition has become true, ``eventually(_:within:_:)`` checks it once more after this time. If the condition is no
/// longer true, the test fails. So this delay finds tests that race with the farm (docs/internals/proof.md).
private let lateness = Duration.seconds(
    ProcessInfo.processInfo.environment["PUSHFARM_TEST_LATENESS"].flatMap(Double.init) ?? 0)

/// Polls `condition` until it returns a value. Use this function only if no event reports the value. Checks the condition once
/// more after the deadline, because the test may have had no CPU time before the deadline.
package func eventually<Value>(
    _ what: String, within limit: Duration = .seconds(60), _ condition: () async throws -> Value?
) async throws -> Value {
    let start = ContinuousClock.now
    let deadline = start + limit
    var hasWaited = false
    while true {
        let isLast = ContinuousClock.now >= deadline
        if let value = try await condition() {
            if !hasWaited || lateness == .zero { return value }
            try await Task.sleep(for: lateness)
            if let value = try await condition() { return value }
            throw Overdue(description: "true for less than \(lateness): \(what)")
        }
        hasWaited = true
        if isLast { break }
        // A condition may cost much processor time, because it starts a command or reads a whole ledger. So the pauses grow
        // with the wait.
        let pause = (ContinuousClock.now - start) / 20
        try await Task.sleep(for: min(max(pause, .milliseconds(10)), .milliseconds(250)))
    }
    throw Overdue(description: "not within \(limit): \(what)")
}

/// Polls `condition` until it is true. Use this function only if no event reports that the condition is true.
package func eventually(
    _ what: String, within limit: Duration = .seconds(60), _ condition: () async throws -> Bool
) async throws {
    _ = try await eventually(what, within: limit) { try await condition() ? () : nil }
}
