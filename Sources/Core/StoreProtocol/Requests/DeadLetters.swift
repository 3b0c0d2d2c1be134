package import RedisProtocol

/// Pushes of one job that failed for the same reason, though their tokens are valid.
package struct DeadLetter: Equatable, Sendable {
    package let id: EntryID
    package let job: String
    /// The reason from the gateway or from the farm.
    package let reason: String
    /// The gateway's status; 0 if the gateway sent none.
    package let status: Int
    package let pushes: Int
    /// The pushes as one job part, encoded by `BatchBuilder`.
    package let body: [UInt8]

    /// When the pushes were settled, in Unix milliseconds of Redis's clock.
    package var at: Int64 { id.milliseconds }
}

/// Reads dead letters.
package struct ReadDeadLetters: Request {
    package struct Reply: Sendable {
        package let letters: [DeadLetter]
        /// The entry after which the next call continues; nil at the end of the stream.
        package let next: EntryID?
    }

    package let words: [any CommandArgument]

    package init(_ range: StreamRange, count: Int = 64) {
        words = range.words(AppKey(\.deadLetters), count: count)
    }

    package static func read(_ value: RESPValue) throws(StoreError) -> Reply {
        let entries = try ReplyReader.entries(value, Self.self)
        // Skips entries in an unknown format, so that the remaining entries can still be read.
        let letters = entries.compactMap { id, words -> DeadLetter? in
            let fields = ReplyFields(pairs: words)
            guard let job = fields.text("j"), let reason = fields.text("r"),
                let status = fields.integer("s"), let pushes = fields.integer("n"),
                let body = fields.bytes("b")
            else { return nil }
            return DeadLetter(id: id, job: job, reason: reason, status: status, pushes: pushes, body: body)
        }
        return Reply(letters: letters, next: entries.last?.id)
    }
}

/// Reads the id of the newest dead letter; nil if there are none.
package struct LastDeadLetter: Request {
    package init() {}

    package var words: [any CommandArgument] { StreamRange.latest.words(AppKey(\.deadLetters), count: 1) }

    package static func read(_ value: RESPValue) throws(StoreError) -> EntryID? {
        guard let entries = value.array else { throw .unexpectedReply("\(Self.self)") }
        return entries.first?.array?.first?.bytes.map { EntryID($0) }
    }
}

/// Counts the pushes in an app's dead letters, and the pushes in dead letters that were deleted.
package struct CountDeadLetters: Request {
    package struct Reply: Equatable, Sendable {
        package var pushes = 0
        package var bytes = 0
        /// Pushes in dead letters that were deleted because of their age or because of a size limit.
        package var trimmed = 0
        /// Pushes in dead letters that an operator dropped.
        package var dropped = 0

        package init(pushes: Int = 0, bytes: Int = 0, trimmed: Int = 0, dropped: Int = 0) {
            (self.pushes, self.bytes, self.trimmed, self.dropped) = (pushes, bytes, trimmed, dropped)
        }
    }

    private static let fields = ["pushes", "bytes", "trimmed", "dropped"]

    package init() {}

    package var words: [any CommandArgument] {
        ["HMGET", AppKey(\.deadLetterCounts), ArgumentList(Self.fields)]
    }

    package static func read(_ value: RESPValue) throws(StoreError) -> Reply {
        let fields = try ReplyFields(value, fields, Self.self)
        return Reply(
            pushes: fields.number("pushes"), bytes: fields.number("bytes"),
            trimmed: fields.number("trimmed"), dropped: fields.number("dropped"))
    }
}

/// Deletes dead letters and audit entries that exceed the limits of the retention. Each call deletes a limited number of entries.
package struct TrimDeadLetters: Request {
    package static var script: Script? { .trim }
    /// Whether more entries must be deleted.
    package typealias Reply = Bool

    package let words: [any CommandArgument]

    /// - Parameters:
    ///   - now: the time in Unix seconds.
    ///   - most: maximum number of entries that one call deletes, so that Redis is blocked for at most 5 ms.
    package init(_ retention: Retention, now: Int64, most: Int = 256) {
        words = [
            ScriptKeys.prefix, retention.deadLetterPushes, retention.deadBytes,
            (now - Int64(retention.deadSeconds)) * 1000, retention.auditBytes,
            (now - Int64(retention.auditSeconds)) * 1000, most,
        ]
    }
}
