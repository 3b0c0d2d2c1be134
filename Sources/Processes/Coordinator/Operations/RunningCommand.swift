import EventLoop
import PushModel

/// An operator's command that this host is running. The object reports the progress of the command to the operator.
@Loop final class RunningCommand {
    private let host: String
    private let reply: @Loop (OperatorReply) async -> Void
    private var pending: OperatorReply?
    private var replying: Task<Void, Never>?
    /// Whether the last reply is done: sent, or lost because it could not be sent.
    private(set) var hasEnded = false

    init(host: String, reply: @escaping @Loop (OperatorReply) async -> Void) {
        (self.host, self.reply) = (host, reply)
    }

    /// Reports progress as a text for people. If sending is slow, only the latest text is sent.
    func progress(_ text: String) { say(OperatorReply(host: host, state: .working, text: text)) }

    /// Sends the last reply and waits until it is sent.
    func end(_ reply: OperatorReply) async {
        say(reply)
        await replying?.value
        hasEnded = true
    }

    private func say(_ reply: OperatorReply) {
        pending = reply
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

/// Makes operators' changes of workers or leases run one at a time.
@Loop final class OperationLock {
    /// The name of the running change; nil if no change is running.
    private var current: String?

    var isUnderWay: Bool { current != nil }

    func run(
        _ name: String, _ body: @Loop () async throws(OperationRefusal) -> String
    ) async throws(OperationRefusal) -> String {
        if let current {
            throw OperationRefusal("the operation \"\(current)\" is running; try again when it is done")
        }
        current = name
        defer { current = nil }
        return try await body()
    }
}

/// The words and options of an operator's command.
struct OperatorArguments {
    let words: [String]
    private let options: Set<String>

    /// Parses arguments. Options have the form `--name` or `--name=value`.
    init(_ arguments: [String]) {
        words = arguments.filter { !$0.hasPrefix("--") }
        options = Set(
            arguments.filter { $0.hasPrefix("--") }.map { String($0.dropFirst(2).prefix { $0 != "=" }) })
    }

    func has(_ option: String) -> Bool { options.contains(option) }

    func first(_ what: String) throws(OperationRefusal) -> String { try word(0, what) }

    func word(_ index: Int, _ what: String) throws(OperationRefusal) -> String {
        guard words.count > index else { throw OperationRefusal("\(what) is missing") }
        return words[index]
    }

    func number(_ index: Int, _ what: String) throws(OperationRefusal) -> Int {
        let text = try word(index, what)
        guard let number = Int(foreign: text), number >= 0 else {
            throw OperationRefusal("\(what): \(text) is not a number")
        }
        return number
    }
}
