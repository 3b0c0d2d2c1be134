import EventLoop
import FarmPolicy

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
