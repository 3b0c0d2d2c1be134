/// The status in the first line of an HTTP/1.1 answer, after any 100 Continue.
package enum AnswerStatus: Equatable, Sendable {
    case incomplete
    case status(Int)
    case bad

    package static func read(_ bytes: [UInt8]) -> AnswerStatus {
        var rest = bytes[...]
        while true {
            guard let end = rest.endOfHead else {
                return rest.count > PageRequest.longestHead ? .bad : .incomplete
            }
            let line = rest.prefix { $0 != UInt8(ascii: "\r") && $0 != UInt8(ascii: "\n") }
            let words = line.split(separator: UInt8(ascii: " "))
            guard words.count >= 2, words[0].starts(with: Array("HTTP/1.".utf8)), words[1].count == 3,
                let status = Int(foreign: String(decoding: words[1], as: UTF8.self)), status >= 100
            else { return .bad }
            if status >= 200 { return .status(status) }
            rest = rest.dropFirst(end)
        }
    }
}
