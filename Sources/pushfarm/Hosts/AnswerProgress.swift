import ControlChannel
import FarmLogging
import PushModel

/// What hosts say while a command waits: `2 of 3 hosts done · gamma: 1 of 2 workers restarted`, on a terminal only.
struct AnswerProgress {
    private let count: Int
    private let isShown: Bool
    private var isOpen = false

    init(of count: Int, quiet: Bool) {
        self.count = count
        isShown = !quiet && Terminal.isTerminal(Terminal.standardError)
    }

    mutating func show(_ answers: [OperatorAnswer]) {
        guard isShown else { return }
        let width = (Terminal.columns(of: Terminal.standardError) ?? 80) - 1
        Terminal.write(
            "\r" + PlainText.cut(Self.line(answers, of: count), to: width) + "\u{1B}[K",
            to: Terminal.standardError)
        isOpen = true
    }

    mutating func finish() {
        guard isOpen else { return }
        Terminal.write("\r\u{1B}[K", to: Terminal.standardError)
        isOpen = false
    }

    static func line(_ answers: [OperatorAnswer], of count: Int) -> String {
        let done = answers.count { $0.isLast }
        let working = answers.filter { !$0.isLast && !$0.text.isEmpty }.map {
            "\(PlainText.of($0.host)): \(PlainText.of($0.text, limit: 300))"
        }
        return (["\(done) of \(count) host\(count == 1 ? "" : "s") done"] + working).joined(separator: " · ")
    }
}
