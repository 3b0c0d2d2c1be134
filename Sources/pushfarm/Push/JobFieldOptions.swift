import ArgumentParser
import EventLoop
import PushModel

/// The optional fields of a job as command line options.
struct JobFieldOptions: ParsableArguments, Sendable {
    @Option(help: ArgumentHelp("The job's id, 1 to 64 characters. Default: a random one.", valueName: "id"))
    var id: String?

    @Option(
        help: ArgumentHelp(
            "The push type: alert (default), background, voip, liveactivity, …", valueName: "type"))
    var pushType: String?

    @Option(reads: ArgumentHelp("The priority: 10, 5 or 1.", valueName: "n"))
    var priority: Int?

    @Option(
        reads: ArgumentHelp(
            "The time to live, such as 3600 (seconds), 90s, 15m or 1h.", valueName: "duration"))
    var ttl: DurationOption?

    @Option(
        reads: ArgumentHelp(
            "The time at which the push expires: 2h or 3d from now, Unix seconds, or 2026-05-01T10:00:00Z.",
            valueName: "when"))
    var expiresAt: Moment?

    @Option(
        help: ArgumentHelp(
            "On the device, the push replaces a shown notification that has the same collapse id.",
            valueName: "id"))
    var collapseID: String?

    @Option(help: ArgumentHelp("The topic of the pushes. Default: the app's topic.", valueName: "topic"))
    var topic: String?

    @Option(help: ArgumentHelp("The lane: high (default) or bulk.", valueName: "lane"))
    var lane: String?

    @Option(
        reads: ArgumentHelp(
            "Sends no push before this time: 2h or 3d from now, Unix seconds, or 2026-05-01T10:00:00Z.",
            valueName: "when"))
    var deliverAt: Moment?

    @Option(
        help: ArgumentHelp(
            "Which pushes get an event with their outcome: failures (default), all or none.",
            valueName: "which"))
    var receipts: String?

    @Option(
        help: ArgumentHelp(
            "The promise of delivery: at-least-once (default) or at-most-once.", valueName: "promise"))
    var delivery: String?

    @Option(reads: ArgumentHelp("The most attempts per push, 1 to 100. Default: 8.", valueName: "n"))
    var maxAttempts: Int?

    @Option(
        reads: ArgumentHelp(
            "The time when you last saw the tokens registered: 3d ago, Unix seconds, or 2026-05-01T10:00:00Z.",
            valueName: "when"))
    var registeredAt: Moment?

    func validate() throws {
        if let ttl, ttl.wholeSeconds == nil {
            throw ValidationError("--ttl must be a whole number of seconds.")
        }
        // The value 0 means one attempt without an expiration time.
        guard case .at(let moment) = expiresAt, moment > 0, moment / 1000 <= WallClock.seconds else { return }
        let seconds = moment / 1000
        throw ValidationError(
            "--expires-at is in the past"
                + (seconds <= JobLimits.longestTime
                    ? ": a number is Unix seconds; \(seconds)s is from now on." : "."))
    }

    /// The given fields under their names in a job.
    var fields: [(name: String, value: JSONValue)] {
        let texts = [
            ("push_type", pushType), ("collapse_id", collapseID), ("topic", topic), ("lane", lane),
            ("receipts", receipts), ("delivery", delivery),
        ]
        let now = WallClock.seconds * 1000
        let numbers: [(String, Int64?)] = [
            ("priority", priority.map { Int64($0) }), ("ttl", ttl?.wholeSeconds),
            ("expires_at", Self.seconds(expiresAt?.future(now: now))),
            ("deliver_at", Self.seconds(deliverAt?.future(now: now))),
            ("max_attempts", maxAttempts.map { Int64($0) }),
            ("registered_at", Self.seconds(registeredAt?.past(now: now))),
        ]
        return texts.compactMap { name, value in value.map { (name, .string($0)) } }
            + numbers.compactMap { name, value in value.map { (name, .number($0)) } }
    }

    private static func seconds(_ milliseconds: Int64?) -> Int64? { milliseconds.map { $0 / 1000 } }
}
