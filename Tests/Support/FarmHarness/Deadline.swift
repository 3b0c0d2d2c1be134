import Foundation

/// What did not come about in time.
package struct Overdue: Error, CustomStringConvertible {
    package let description: String

    package init(description: String) { self.description = description }
}

/// So late it is noticed that what a test waited for has come about, and by then it must still be so: how tests are found that race
/// with the farm (docs/internals/proof.md).
private let lateness = Duration.seconds(
    ProcessInfo.processInfo.environment["PUSHFARM_TEST_LATENESS"].flatMap(Double.init) ?? 0)

/// Looks again and again until `condition` gives something. For what tells no event of its own. Looks once more when the time
/// is over: this may have waited for a processor all the while.
package func eventually<Value>(
    _ what: String, within limit: Duration = .seconds(60), _ condition: () async throws -> Value?
) async throws -> Value {
    let deadline = ContinuousClock.now + limit
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
        try await Task.sleep(for: .milliseconds(10))
    }
    throw Overdue(description: "not within \(limit): \(what)")
}

/// As above, for a condition that is true or not.
package func eventually(
    _ what: String, within limit: Duration = .seconds(60), _ condition: () async throws -> Bool
) async throws {
    _ = try await eventually(what, within: limit) { try await condition() ? () : nil }
}
