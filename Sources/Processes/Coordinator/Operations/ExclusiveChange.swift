import EventLoop

/// Lets operators change the workers or the leases one change at a time.
@Loop final class ExclusiveChange {
    /// The change under way.
    private var current: String?

    var isUnderWay: Bool { current != nil }

    func run(
        _ name: String, _ body: @Loop () async throws(OperationRefusal) -> String
    ) async throws(OperationRefusal) -> String {
        if let current { throw OperationRefusal("\(current) is under way; try again when it is done") }
        current = name
        defer { current = nil }
        return try await body()
    }
}
