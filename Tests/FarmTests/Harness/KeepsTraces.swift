import FarmHarness
import Testing

/// Keeps the processes' files of a failed test in .build/failed, under the test's name.
struct KeepsTraces: TestTrait, SuiteTrait, TestScoping {
    let isRecursive = true

    @concurrent func provideScope(
        for test: Test, testCase: Test.Case?,
        performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        let book = FolderBook()
        let watch: IssueHandlingTrait = .compactMapIssues { issue in
            book.keep()
            return issue
        }
        defer {
            if let place = book.close(as: test.name) { print("↳ what its processes wrote: \(place)") }
        }
        do {
            try await FolderBook.$current.withValue(book) {
                try await watch.provideScope(for: test, testCase: testCase, performing: function)
            }
        } catch {
            book.keep()
            throw error
        }
    }
}

extension Trait where Self == KeepsTraces {
    static var keepsTraces: Self { KeepsTraces() }
}
