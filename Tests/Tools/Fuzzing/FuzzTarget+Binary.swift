import APNs
import BinaryProtocol
import PushModel
import RandomTesting

extension FuzzTarget {
    /// Frames of the binary interface, as a gateway reads them and a sender writes them.
    static let frames = FuzzTarget(
        "frames",
        words: [
            "\0\0\u{20}", "\u{1}\0\0\0\u{1}", "\u{2}\0\0\0", "\u{1}\0\u{20}", "\u{2}\0\u{16}", "\u{3}\0\u{4}",
            "\u{4}\0\u{4}", "\u{5}\0\u{1}\u{a}", "{\"aps\":{\"alert\":\"Hi\"}}", "\0\0", "\0\u{2}\0\0",
        ]
    ) { bytes throws(Violation) in
        try Frame.writeAndRead(bytes)
        var rest = bytes[...]
        while !rest.isEmpty {
            let front = Array(rest)
            let frame = Frame(front)
            guard let length = frame.length else {
                guard frame.isWaiting else { return }
                // If the reader waits for more bytes after it has read `front`, it must also wait after a shorter prefix of
                // `front`.
                var random = SplitMix(seed: XXH64.hash(front, seed: 0))
                let fewer = Array(front.prefix(Int(random.next() % UInt64(front.count))))
                return try Violation.unless(Frame(fewer).isWaiting, "waits for more, and not for less")
            }
            try Violation.unless(length > 0 && length <= front.count, "a frame of \(length) bytes")
            try Violation.unless(
                Frame(Array(front.prefix(length))) == frame, "another frame with what is behind it")
            try Violation.unless(
                (0..<min(length, 200)).allSatisfy { Frame(Array(front.prefix($0))).isWaiting },
                "whole before it is")
            try Violation.unless(
                Frame(Array(front.prefix(length - 1))).isWaiting, "whole without its last byte")
            rest = rest.dropFirst(length)
        }
    }

    /// The error reply that a gateway sends before it closes the connection.
    static let gatewayReply = FuzzTarget(
        "gateway-reply",
        words: ["\u{8}\u{8}\0\0\u{3}\u{e8}", "\u{8}\u{a}", "\u{8}\0", "\0\0\0\0"], longestInput: 64
    ) { bytes throws(Violation) in
        let whole = ReplyStream(bytes) { $0 }
        var random = SplitMix(seed: XXH64.hash(bytes, seed: 0))
        let pieces = ReplyStream(bytes) { Int(random.next() % UInt64($0)) + 1 }
        try Violation.unless(whole == pieces, "another reply when it comes in pieces")
        try Violation.unless(
            whole.isMalformed == (bytes.first.map { $0 != BinaryReply.command } ?? false),
            "what is a reply depends on more than its first byte")
        try Violation.unless((whole.reply != nil) == (!whole.isMalformed && bytes.count >= 6), "no reply")
        if let reply = whole.reply {
            try Violation.unless(reply.bytes == Array(bytes.prefix(6)), "written again, another reply")
            try Violation.unless(!reply.status.reason.isEmpty, "a status without a word")
        }
    }

    /// The stream of the feedback service.
    static let feedback = FuzzTarget(
        "feedback",
        words: ["\u{65}\u{53}", "\0\u{20}", "\0\0", "\0\u{64}", "\0\u{65}", "\u{1}\0"]
    ) { bytes throws(Violation) in
        let whole = FeedbackStream(bytes) { $0 }
        var random = SplitMix(seed: XXH64.hash(bytes, seed: 0))
        let pieces = FeedbackStream(bytes) { Int(random.next() % UInt64(min($0, 50))) + 1 }
        try Violation.unless(whole == pieces, "other tuples when they come in pieces")
        var again: [UInt8] = []
        for tuple in whole.tuples { tuple.append(to: &again) }
        try Violation.unless(bytes.starts(with: again), "written again, other tuples")
        try Violation.unless(
            whole.fault != nil || again.count + whole.pending == bytes.count, "bytes were lost")
        try Violation.unless(
            whole.tuples.allSatisfy { (1...BinaryCommand.longestToken).contains($0.token.count) },
            "a token of an invalid length")
    }
}

/// A copy of a frame as the reader decoded it.
private struct Frame: Equatable {
    private(set) var command: UInt8?
    private(set) var token: [UInt8] = []
    private(set) var payload: [UInt8] = []
    private(set) var identifier: UInt32 = 0
    private(set) var expiration: UInt32?
    private(set) var priority: UInt8?
    private(set) var length: Int?
    private(set) var isWaiting = false

    init(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { bytes in
            switch BinaryFrame(readingFrontOf: bytes) {
            case .incomplete: isWaiting = true
            case .unknownCommand: break
            case .unreadable(let identifier, let length):
                (self.identifier, self.length) = (identifier, length)
            case .notification(let push, let command, let length):
                (self.command, self.length) = (command.rawValue, length)
                (token, payload) = (Array(push.token), Array(push.payload))
                (identifier, expiration, priority) = (push.identifier, push.expiration, push.priority)
            }
        }
    }

    /// Makes a notification from the bytes, encodes it with each command, and checks that the reader decodes the
    /// same notification.
    static func writeAndRead(_ bytes: [UInt8]) throws(Violation) {
        guard bytes.count >= 12 else { return }
        let number = { (from: Int) in bytes[from..<from + 4].reduce(0) { $0 << 8 | UInt32($1) } }
        let content = bytes.dropFirst(12)
        let token = Array(content.prefix(Int(bytes[0])))
        let payload = Array(content.dropFirst(Int(bytes[0])))
        for command in BinaryCommand.allCases {
            let written = token.withUnsafeBytes { token in
                payload.withUnsafeBytes { payload in
                    let push = BinaryNotification(
                        token: token, payload: payload, identifier: number(1),
                        expiration: bytes[9] & 1 == 0 ? nil : number(5),
                        priority: bytes[9] & 2 == 0 ? nil : bytes[10])
                    return [UInt8](unsafeUninitializedCapacity: push.length(as: command)) { room, count in
                        count = push.write(as: command, to: UnsafeMutableRawBufferPointer(room))
                    }
                }
            }
            let read = Frame(written)
            try Violation.unless(
                read.command == command.rawValue && read.length == written.count && read.token == token
                    && read.payload == payload, "command \(command.rawValue): another notification")
            guard command != .simple else { continue }
            try Violation.unless(read.identifier == number(1), "another identifier")
            let expiration = bytes[9] & 1 == 0 ? nil : number(5)
            try Violation.unless(
                read.expiration == expiration || command == .enhanced && expiration == nil,
                "another expiration")
            let priority = bytes[9] & 2 == 0 ? nil : bytes[10]
            try Violation.unless(command == .enhanced || read.priority == priority, "another priority")
        }
    }
}

/// The result of the reply reader for some bytes.
private struct ReplyStream: Equatable {
    private(set) var reply: BinaryReply?
    private(set) var isMalformed = false

    /// - Parameter size: returns the size of the next piece for the number of remaining bytes.
    init(_ bytes: [UInt8], piece size: (Int) -> Int) {
        var reader = BinaryReply.Reader()
        var rest = bytes[...]
        while !rest.isEmpty {
            let piece = rest.prefix(size(rest.count))
            rest = rest.dropFirst(piece.count)
            switch piece.withUnsafeBytes({ reader.read($0) }) {
            case .incomplete: break
            case .reply(let reply): self.reply = reply
            case .malformed: isMalformed = true
            }
        }
    }
}

/// The result of the tuple reader for some bytes.
private struct FeedbackStream: Equatable {
    private(set) var tuples: [FeedbackTuple] = []
    private(set) var fault: FeedbackTuple.Fault?
    private(set) var pending = 0

    /// - Parameter size: returns the size of the next piece for the number of remaining bytes.
    init(_ bytes: [UInt8], piece size: (Int) -> Int) {
        var reader = FeedbackTuple.Reader()
        var rest = bytes[...]
        var read: [FeedbackTuple] = []
        while !rest.isEmpty, fault == nil {
            let piece = Array(rest.prefix(size(rest.count)))
            rest = rest.dropFirst(piece.count)
            fault = piece.withUnsafeBytes { piece in
                do throws(FeedbackTuple.Fault) {
                    try reader.read(piece) { read.append($0) }
                    return nil
                } catch {
                    return error
                }
            }
        }
        (tuples, pending) = (read, fault == nil ? reader.pending : 0)
    }
}
