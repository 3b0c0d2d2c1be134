package import RedisProtocol

/// Pushes of one job that failed for the same reason, and not because of their tokens.
package struct DeadLetter: Equatable, Sendable {
    package let id: EntryID
    package let job: String
    /// The gateway's word, or the farm's.
    package let reason: String
    /// The gateway's status; 0 if it gave none.
    package let status: Int
    package let pushes: Int
    /// As `BatchBuilder` makes it; one segment.
    package let body: [UInt8]

    /// Unix milliseconds of Redis's clock when it was booked.
    package var at: Int64 { id.milliseconds }
}

/// Reads dead letters, the oldest first.
package struct ReadDeadLetters: Request {
    package enum Range: Sendable {
        case after(EntryID)
        /// From a moment on, in Unix milliseconds.
        case since(Int64)
        case only(EntryID)
    }

    package struct Reply: Sendable {
        package let letters: [DeadLetter]
        /// Where to go on; nil at the end.
        package let next: EntryID?
    }

    package var range: Range
    package var count: Int

    package init(_ range: Range, count: Int = 64) { (self.range, self.count) = (range, count) }

    package func write(_ keys: Keys, to command: inout RESPCommand) {
        command.append("XRANGE")
        command.append(keys.deadLetters)
        switch range {
        case .after(let id):
            command.append([UInt8(ascii: "(")] + id.bytes)
            command.append("+")
        case .since(let moment):
            command.append(moment)
            command.append("+")
        case .only(let id):
            command.append(id.bytes)
            command.append(id.bytes)
        }
        command.append("COUNT")
        command.append(count)
    }

    package static func read(_ value: RESPValue) throws(StoreError) -> Reply {
        let entries = try ReplyReader.entries(value, "dead letters")
        // What is not a letter keeps none of the others from being read.
        let letters = entries.compactMap { id, words -> DeadLetter? in
            guard let words = words.array, words.count == 10, let job = words[1].text,
                let reason = words[3].text, let status = words[5].text.flatMap({ Int(foreign: $0) }),
                let pushes = words[7].text.flatMap({ Int(foreign: $0) }), let body = words[9].bytes
            else { return nil }
            return DeadLetter(id: id, job: job, reason: reason, status: status, pushes: pushes, body: body)
        }
        return Reply(letters: letters, next: entries.last?.id)
    }
}

/// What is in an app's dead letters, and what became of those that are gone.
package struct CountDeadLetters: Request {
    package struct Reply: Equatable, Sendable {
        package var pushes = 0
        package var bytes = 0
        /// Pushes that had to go because of their age or number.
        package var trimmed = 0
        /// Pushes that an operator dropped.
        package var dropped = 0

        package init(pushes: Int = 0, bytes: Int = 0, trimmed: Int = 0, dropped: Int = 0) {
            (self.pushes, self.bytes, self.trimmed, self.dropped) = (pushes, bytes, trimmed, dropped)
        }
    }

    package init() {}

    package func write(_ keys: Keys, to command: inout RESPCommand) {
        command.append("HMGET")
        command.append(keys.deadLetterCounts)
        for field in ["pushes", "bytes", "trimmed", "dropped"] { command.append(field) }
    }

    package static func read(_ value: RESPValue) throws(StoreError) -> Reply {
        guard let values = value.array, values.count == 4 else {
            throw .unexpectedReply("sum of dead letters")
        }
        let numbers = values.map { $0.text.flatMap { Int(foreign: $0) } ?? 0 }
        return Reply(pushes: numbers[0], bytes: numbers[1], trimmed: numbers[2], dropped: numbers[3])
    }
}

/// Drops dead letters, and entries of the audit, that are too old or too many, a bounded number at a time.
package struct TrimDeadLetters: Request {
    package static var script: Script? { .trim }

    package var retention: Retention
    /// Unix seconds.
    package var now: Int64
    /// So that Redis is not held up for more than 5 ms.
    package var most: Int

    package init(_ retention: Retention, now: Int64, most: Int = 256) {
        (self.retention, self.now, self.most) = (retention, now, most)
    }

    package func write(_ keys: Keys, to command: inout RESPCommand) {
        command.append(keys)
        command.append(retention.deadPushes)
        command.append(retention.deadBytes)
        command.append((now - Int64(retention.deadSeconds)) * 1000)
        command.append(retention.auditBytes)
        command.append((now - Int64(retention.auditSeconds)) * 1000)
        command.append(most)
    }

    /// Whether there are more to drop.
    package static func read(_ value: RESPValue) throws(StoreError) -> Bool {
        guard let more = value.integer else { throw .unexpectedReply("trim") }
        return more == 1
    }
}

/// The id of the youngest dead letter; nil: there is none.
package struct LastDeadLetter: Request {
    package init() {}

    package func write(_ keys: Keys, to command: inout RESPCommand) {
        command.append("XREVRANGE")
        command.append(keys.deadLetters)
        for word in ["+", "-", "COUNT", "1"] { command.append(word) }
    }

    package static func read(_ value: RESPValue) throws(StoreError) -> EntryID? {
        guard let entries = value.array else { throw .unexpectedReply("last letter") }
        return entries.first?.array?.first?.bytes.map { EntryID($0) }
    }
}
