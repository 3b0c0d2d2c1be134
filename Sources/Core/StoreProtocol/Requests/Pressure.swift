package import RedisProtocol

/// What an app may hold at most.
package struct AppLimits: Hashable, Sendable {
    /// Open pushes, and jobs of the inbox, together.
    package var backlog: Int
    /// Jobs.
    package var inbox: Int
    package var inboxBytes: Int
    package var jobBytes: Int

    package init(backlog: Int, inbox: Int, inboxBytes: Int, jobBytes: Int) {
        (self.backlog, self.inbox, self.inboxBytes, self.jobBytes) = (backlog, inbox, inboxBytes, jobBytes)
    }
}

/// Why producers of an app are told to wait.
package enum FullReason: String, Sendable {
    /// Redis's memory: every app.
    case memory
    /// The app's open pushes.
    case backlog
    /// The app's inbox.
    case inbox
    /// An operator has closed it.
    case `operator`
}

/// Tells an app's slot how full the farm is and what the app may hold; finds out whether the app is full.
package struct Press: Request {
    /// What is known of the farm's memory.
    package enum Memory: String, Sendable {
        case full, relieved
        /// Between the marks: as it was.
        case keep
    }

    package struct Reply: Equatable, Sendable {
        /// Nil if producers are welcome.
        package let full: FullReason?
        /// That has just begun or ended.
        package let isNew: Bool
        /// Pushes that are in a batch or in an entry.
        package let open: Int
        /// Jobs in the inbox.
        package let inbox: Int
        /// Batches that are ready or in flight; 0 while the app is paused.
        package let batches: Int
    }

    package static var script: Script? { .gate }

    package var memory: Memory
    /// Intake keeps to a trickle.
    package var isHeld: Bool
    /// What producers are told to wait, and up to twice of it.
    package var retryAfter: Duration
    package var limits: AppLimits

    package init(memory: Memory, isHeld: Bool, retryAfter: Duration, limits: AppLimits) {
        (self.memory, self.isHeld, self.retryAfter, self.limits) = (memory, isHeld, retryAfter, limits)
    }

    package func write(_ keys: Keys, to command: inout RESPCommand) {
        command.append(keys, inbox: ())
        command.append("press")
        command.append(memory.rawValue)
        command.append(isHeld)
        command.append(max(1, retryAfter.wholeMilliseconds))
        command.append(limits.backlog)
        command.append(limits.inbox)
        command.append(limits.inboxBytes)
        command.append(limits.jobBytes)
    }

    package static func read(_ value: RESPValue) throws(StoreError) -> Reply {
        var reader = try ReplyReader(value, "press")
        return Reply(
            full: FullReason(rawValue: try reader.text()), isNew: try reader.integer() == 1,
            open: try reader.integer(), inbox: try reader.integer(), batches: try reader.integer())
    }
}

/// Removes the mark of an app that no coordinator configures any more: `pushfarm_submit` then refuses its jobs.
///
/// A coordinator that does configure it brings the mark back with its next ``Press``.
package struct ForgetApp: Request {
    package static var script: Script? { .gate }

    /// Only if no coordinator that configures it has pressed for so long, to within a minute.
    package var silence: Duration

    package init(silence: Duration) { self.silence = silence }

    package func write(_ keys: Keys, to command: inout RESPCommand) {
        command.append(keys)
        command.append("forget")
        command.append(silence.wholeMilliseconds)
    }

    /// Whether there was a mark.
    package static func read(_ value: RESPValue) throws(StoreError) -> Bool { try value.changed("forget") }
}

/// Why and since when an app is full.
package struct ReadFullness: Request {
    package struct Fullness: Equatable, Sendable {
        package let reason: FullReason
        /// Unix milliseconds of Redis's clock.
        package let since: Int64
    }

    package init() {}

    package func write(_ keys: Keys, to command: inout RESPCommand) {
        command.append("HMGET")
        command.append(keys.admission)
        for field in ["full", "full_since"] { command.append(field) }
    }

    /// Nil if it is not.
    package static func read(_ value: RESPValue) throws(StoreError) -> Fullness? {
        guard let parts = value.array, parts.count == 2 else { throw .unexpectedReply("fullness") }
        return parts[0].text.flatMap(FullReason.init).map {
            Fullness(reason: $0, since: parts[1].text.flatMap { Int64(foreign: $0) } ?? 0)
        }
    }
}
