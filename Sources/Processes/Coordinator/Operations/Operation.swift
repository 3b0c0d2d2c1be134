import ControlChannel
import EventLoop
import PushModel

/// A command that is being carried out: says how far it is.
@Loop final class Operation {
    private let host: String
    private let tell: @Loop (OperatorAnswer) async -> Void
    private var pending: OperatorAnswer?
    private var telling: Task<Void, Never>?
    /// The last answer was sent, or could not be.
    private(set) var hasEnded = false

    init(host: String, tell: @escaping @Loop (OperatorAnswer) async -> Void) {
        (self.host, self.tell) = (host, tell)
    }

    /// The progress, for a person. When answers are slow, only the latest is sent.
    func progress(_ text: String) { say(OperatorAnswer(host: host, state: .working, text: text)) }

    /// The last answer; nothing is sent after it.
    func end(_ answer: OperatorAnswer) async {
        say(answer)
        await telling?.value
        hasEnded = true
    }

    private func say(_ answer: OperatorAnswer) {
        pending = answer
        guard telling == nil else { return }
        telling = Loop.task {
            while let next = self.pending {
                self.pending = nil
                await self.tell(next)
            }
            self.telling = nil
        }
    }
}
