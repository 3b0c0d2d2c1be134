import FarmHarness
import Testing

/// A trait for suites that start processes. Only a few tests run at a time, and each has a time limit. The files of a failed
/// test are copied to .build/failed under the test's name.
struct StartsProcesses: TestTrait, SuiteTrait, TestScoping {
    /// The time limit, counted from the test's start. If several tests wait for a free slot, the test with the longest limit
    /// starts first.
    let limit: Duration
    let isRecursive = true

    @concurrent func provideScope(
        for test: Test, testCase: Test.Case?,
        performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        await TestSlots.shared.acquire(limit)
        let start = ContinuousClock.now
        defer {
            TestDurations.note(ContinuousClock.now - start, of: test.name)
            TestSlots.shared.release()
        }
        try await keepingTraces(of: test, testCase, function)
    }

    private func keepingTraces(
        of test: Test, _ testCase: Test.Case?, _ function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        let folders = TestFolders()
        let watch: IssueHandlingTrait = .compactMapIssues { issue in
            folders.keep()
            return issue
        }
        defer {
            if let place = folders.close(as: test.name) { print("↳ what its processes wrote: \(place)") }
        }
        do {
            try await TestFolders.$current.withValue(folders) {
                try await watch.provideScope(for: test, testCase: testCase) {
                    try await withTimeLimit(limit, function)
                }
            }
        } catch {
            folders.keep()
            throw error
        }
    }
}

extension Trait where Self == StartsProcesses {
    static var startsProcesses: Self { StartsProcesses(limit: .seconds(180)) }

    static func startsProcesses(limit: Duration) -> Self { StartsProcesses(limit: limit) }
}

/// Limits the time of a test. Swift Testing's own limit would include the time that the test waits for its start.
private func withTimeLimit(
    _ limit: Duration, _ function: @concurrent @Sendable () async throws -> Void
) async throws {
    try await withoutActuallyEscaping(function) { function in
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await function() }
            group.addTask {
                try await Task.sleep(for: limit)
                throw Overdue(description: "the test takes longer than \(limit)")
            }
            defer { group.cancelAll() }
            try await group.next()
        }
    }
}
