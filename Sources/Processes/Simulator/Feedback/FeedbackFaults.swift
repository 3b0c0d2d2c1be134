import APNs
import BinaryProtocol

/// What the feedback service does wrong.
package struct FeedbackFaults: Hashable, Sendable {
    /// The stream ends in the middle of the tuple behind so many.
    package struct Cut: Hashable, Sendable {
        var after: Int
        var isReset: Bool
    }

    package var cut: Cut?
    /// The connection stays open behind the last tuple, in silence.
    package var stays = false
    /// So many milliseconds pass before the first tuple.
    package var thinks: Int64?

    package init() {}
}

/// One fault of the feedback service switched on or off.
package enum FeedbackFaultChange: Hashable, Sendable {
    case cut(FeedbackFaults.Cut?)
    case stay(Bool)
    case think(Int64?)

    /// Nil if `name` is none of them.
    init?(_ name: String, _ words: inout FaultWords) throws(SimulatorError) {
        switch name {
        case "cut" where words.take("off"): self = .cut(nil)
        case "cut":
            let after = try words.count(in: 0...Int(Int32.max))
            self = .cut(FeedbackFaults.Cut(after: after, isReset: words.take("reset")))
        case "stay": self = .stay(try words.choice("on", or: "off"))
        case "think" where words.take("off"): self = .think(nil)
        case "think": self = .think(try words.time())
        default: return nil
        }
    }

    func apply(to faults: inout FeedbackFaults) {
        switch self {
        case .cut(let cut): faults.cut = cut
        case .stay(let stays): faults.stays = stays
        case .think(let time): faults.thinks = time
        }
    }
}

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
