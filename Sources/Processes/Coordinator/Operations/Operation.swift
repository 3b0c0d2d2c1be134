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

/// The arguments of an operator's command: names and options.
struct OperatorArguments {
    let words: [String]
    /// Their names.
    private let options: Set<String>

    /// Options are `--name` or `--name=value`.
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
            throw OperationRefusal("\(what): \(text) is no number")
        }
        return number
    }
}
