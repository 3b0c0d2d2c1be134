import ArgumentParser

/// The optional fields of a job, as flags.
struct JobFieldOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The job's id, 1 to 64 characters. Default: a random one.", valueName: "id"))
    var id: String?

    @Option(help: ArgumentHelp("alert (default), background, voip, liveactivity, …", valueName: "type"))
    var pushType: String?

    @Option(help: ArgumentHelp("10, 5 or 1.", valueName: "n"))
    var priority: Int?

    @Option(
        help: ArgumentHelp("Seconds after which a push is no longer worth delivering.", valueName: "seconds"))
    var ttl: Int?

    @Option(help: ArgumentHelp("The same, as Unix seconds.", valueName: "time"))
    var expiresAt: Int?

    @Option(help: ArgumentHelp("Replaces a shown notification of the same id.", valueName: "id"))
    var collapseID: String?

    @Option(help: ArgumentHelp("Instead of the app's topic.", valueName: "topic"))
    var topic: String?

    @Option(help: ArgumentHelp("high (default) or bulk.", valueName: "lane"))
    var lane: String?

    @Option(help: ArgumentHelp("Unix seconds before which nothing is sent.", valueName: "time"))
    var deliverAt: Int?

    @Option(help: ArgumentHelp("failures (default), all or none.", valueName: "which"))
    var receipts: String?

    @Option(help: ArgumentHelp("at-least-once (default) or at-most-once.", valueName: "promise"))
    var delivery: String?

    @Option(help: ArgumentHelp("Tries a push, 1 to 100. Default: 8.", valueName: "n"))
    var maxAttempts: Int?

    @Option(
        help: ArgumentHelp("Unix seconds when you last saw the tokens registered.", valueName: "time"))
    var registeredAt: Int?

    /// The fields that were given, under their names in a job.
    var fields: [(name: String, value: JSONValue)] {
        let texts = [
            ("push_type", pushType), ("collapse_id", collapseID), ("topic", topic), ("lane", lane),
            ("receipts", receipts), ("delivery", delivery),
        ]
        let numbers = [
            ("priority", priority), ("ttl", ttl), ("expires_at", expiresAt), ("deliver_at", deliverAt),
            ("max_attempts", maxAttempts), ("registered_at", registeredAt),
        ]
        return texts.compactMap { name, value in value.map { (name, .string($0)) } }
            + numbers.compactMap { name, value in value.map { (name, .number($0)) } }
    }
}
