import ControlChannel
import EventLoop
import PushModel

/// A command that is being carried out: says how far it is.
@Loop final class Operation {
    private let host: String
    private let reply: @Loop (OperatorAnswer) async -> Void
    private var pending: OperatorAnswer?
    private var replying: Task<Void, Never>?
    /// The last answer was sent, or could not be.
    private(set) var hasEnded = false

    init(host: String, reply: @escaping @Loop (OperatorAnswer) async -> Void) {
        (self.host, self.reply) = (host, reply)
    }

    /// The progress, for a person. When answers are slow, only the latest is sent.
    func progress(_ text: String) { say(OperatorAnswer(host: host, state: .working, text: text)) }

    /// The last answer; nothing is sent after it.
    func end(_ answer: OperatorAnswer) async {
        say(answer)
        await replying?.value
        hasEnded = true
    }

    private func say(_ answer: OperatorAnswer) {
        pending = answer
        guard replying == nil else { return }
        replying = Loop.task {
            while let next = self.pending {
                self.pending = nil
                await self.reply(next)
            }
            self.replying = nil
        }
    }
}

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
