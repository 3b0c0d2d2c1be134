import APNs
import BinaryProtocol

/// What is told to the feedback service at once.
package enum FeedbackListChange: Hashable, Sendable {
    /// `topic` nil: for the first reader.
    case add(token: [UInt8], time: UInt32, topic: String?)
    /// So many made-up tokens.
    case fill(Int, topic: String?)
    case clear

    /// - Parameter now: milliseconds since 1970.
    init(_ name: String, _ words: inout FaultWords, now: Int64) throws(SimulatorError) {
        let topic = try words.value(of: "topic")
        switch name {
        case "add":
            let word = try words.next("a token")
            guard let token = TokenTable.bytes(of: word.utf8), token.count <= BinaryCommand.longestToken
            else {
                throw .unusable("the token is not hexadecimal")
            }
            let time = UInt32(clamping: try words.since(now: now))
            self = .add(token: token, time: time, topic: topic)
        case "fill": self = .fill(try words.count(in: 1...FeedbackList.most), topic: topic)
        case "clear": self = .clear
        default: throw .unusable("no command \"feedback \(name)\"; say help for a list")
        }
    }
}
