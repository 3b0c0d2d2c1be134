import ControlChannel
import PushModel
import RandomTesting

extension FuzzTarget {
    /// Messages between a coordinator and its children. Both ends are the same program, but a child may send faulty messages.
    static let control = FuzzTarget(
        "control",
        words: ["\u{0}\u{0}\u{0}\u{1}", "\u{0}\u{0}\u{0}\u{4}demo", "\u{0}\u{0}\u{0}\u{0}", "redis://host/0"]
    ) { bytes throws(Violation) in
        try check(WorkerMessage.self, bytes)
        try check(WorkerNotice.self, bytes)
        try check(IntakeMessage.self, bytes)
        try check(IntakeNotice.self, bytes)
        try check(OperatorCommand.self, bytes)
        try check(OperatorReply.self, bytes)
        try check(SuccessorMessage.self, bytes)
        try check(SuccessorNotice.self, bytes)
    }

    private static func check<Message: ControlMessage & Equatable & Sendable>(
        _: Message.Type, _ bytes: [UInt8]
    ) throws(Violation) {
        let whole = ControlStream<Message>(bytes) { _ in bytes.count }
        var random = SplitMix(seed: XXH64.hash(bytes, seed: 0))
        let pieces = ControlStream<Message>(bytes) { Int(random.next() % UInt64(min($0, 40))) + 1 }
        try Violation.unless(whole.messages == pieces.messages, "other messages when they come in pieces")
        try Violation.unless(whole.failure == pieces.failure, "a failure depends on how it comes")
        let again = whole.messages.flatMap(\.frame)
        try Violation.unless(bytes.starts(with: again), "written again, other bytes")
    }
}

/// The messages of a control channel, up to the end or the first fault.
private struct ControlStream<Message: ControlMessage> {
    private(set) var messages: [Message] = []
    private(set) var failure: ControlError?

    init(_ bytes: [UInt8], piece size: (Int) -> Int) {
        var frames = ControlFrames<Message>()
        var rest = bytes[...]
        do throws(ControlError) {
            while !rest.isEmpty {
                let piece = rest.prefix(size(rest.count))
                rest = rest.dropFirst(piece.count)
                piece.withUnsafeBytes { frames.append($0) }
                while let message = try frames.next() { messages.append(message) }
            }
        } catch {
            failure = error
        }
    }
}
