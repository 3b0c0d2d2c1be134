package import RedisProtocol

/// How many jobs of an app were refused, and how many were duplicates: exact counts, also of those without an event.
package struct ReadRefusals: Request {
    package struct Reply: Equatable, Sendable {
        /// In all.
        package var refused = 0
        package var duplicates = 0
        /// Refused jobs in the minute that began at ``since``, and in the minute before that.
        package var minute = 0
        package var before = 0
        /// When the last minute with a refused job began, in Unix milliseconds of Redis's clock.
        package var since: Int64 = 0

        package init() {}

        /// Refused jobs in the 60 seconds before `now`; of a minute that is half over, half of the one before counts.
        package func lastMinute(at now: Int64) -> Int {
            let minute: Int64 = 60_000
            let (age, isAhead) = now.subtractingReportingOverflow(since)
            guard !isAhead, age >= 0, age < 2 * minute else { return 0 }
            let (full, partial) = age < minute ? (self.minute, before) : (0, self.minute)
            let left = Double(minute - age % minute) / Double(minute)
            let rest = Int(clamping: (Double(partial) * left).rounded())
            return full.addingReportingOverflow(rest).partialValue
        }
    }

    private static let fields = ["refused", "duplicates", "minute", "before", "since"]

    package init() {}

    package func write(_ keys: Keys, to command: inout RESPCommand) {
        command.append("HMGET")
        command.append(keys.refusals)
        for field in Self.fields { command.append(field) }
    }

    package static func read(_ value: RESPValue) throws(StoreError) -> Reply {
        guard let parts = value.array, parts.count == fields.count else {
            throw .unexpectedReply("refusals")
        }
        func count(_ part: RESPValue) -> Int { max(0, part.text.flatMap { Int(foreign: $0) } ?? 0) }
        var reply = Reply()
        (reply.refused, reply.duplicates) = (count(parts[0]), count(parts[1]))
        (reply.minute, reply.before) = (count(parts[2]), count(parts[3]))
        reply.since = parts[4].text.flatMap { Int64(foreign: $0) } ?? 0
        return reply
    }
}
