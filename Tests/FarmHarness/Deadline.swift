import Foundation
import Testing

/// What did not come about in time.
struct Overdue: Error, CustomStringConvertible {
    let description: String
}

/// Looks again and again until `condition` gives something. For what tells no event of its own.
func eventually<Value>(
    _ what: String, within limit: Duration = .seconds(60), _ condition: () async throws -> Value?
) async throws -> Value {
    let deadline = ContinuousClock.now + limit
    while ContinuousClock.now < deadline {
        if let value = try await condition() { return value }
        try await Task.sleep(for: .milliseconds(10))
    }
    throw Overdue(description: "not within \(limit): \(what)")
}

/// As above, for a condition that is true or not.
func eventually(
    _ what: String, within limit: Duration = .seconds(60), _ condition: () async throws -> Bool
) async throws {
    _ = try await eventually(what, within: limit) { try await condition() ? () : nil }
}
