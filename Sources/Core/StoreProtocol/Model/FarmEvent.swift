import PushModel
package import RedisProtocol

/// An entry of the events stream, which producers read. The script that writes the entry adds the field `at`: Redis's time in
/// milliseconds.
package struct FarmEvent: Sendable {
    package enum Kind: String, Sendable, CaseIterable {
        case pushDelivered = "push.delivered"
        case pushFailed = "push.failed"
        case pushExpired = "push.expired"
        /// The push was left out because of the budget of background pushes.
        case pushCapped = "push.capped"
        case tokenInvalid = "token.invalid"
        case tokenMalformed = "token.malformed"
        /// A shard is quarantined because several workers crashed while they had pushes of this shard in flight.
        case shardQuarantined = "shard.quarantined"
        /// A binary gateway reported that it lost pushes, but this report came after the pushes were counted as delivered.
        case gatewayDeliveredLost = "gateway.delivered_lost"
        /// A host runs more or fewer workers than before.
        case workersScaled = "workers.scaled"
        /// The app's `budget.max_conns` is less than the number of workers; each worker still opens one connection.
        case budgetTooFewConnections = "budget.too_few_connections"
        case alertFired = "alert.fired"
        case alertCleared = "alert.cleared"
        /// A results entry cannot be settled.
        case unreadable = "data.unreadable"
        /// A campaign skipped devices, for example because a chunk of bits could not be read.
        case campaignSkipped = "campaign.devices_skipped"

        // Only scripts write events of the following kinds. The script that makes a change also writes its event, so neither
        // exists without the other.
        case jobAccepted = "job.accepted"
        case jobRefused = "job.refused"
        case jobDuplicate = "job.duplicate"
        case jobPushesFailed = "job.pushes_failed"
        case jobCancelled = "job.cancelled"
        case jobCancelRefused = "job.cancel_refused"
        case jobFinished = "job.finished"
        case jobPaused = "job.paused"
        case jobQuarantined = "job.quarantined"
        case jobResumed = "job.resumed"
        case jobRepaired = "job.repaired"
        case jobReplayed = "job.replayed"
        case deviceRefused = "device.refused"
        case campaignRefused = "campaign.refused"
        case campaignStarted = "campaign.started"
        case campaignPaused = "campaign.paused"
        case campaignFinished = "campaign.finished"
        case campaignRunSkipped = "campaign.run_skipped"
        case doneRefused = "done.refused"
        case rewardRefused = "reward.refused"
        case batchQuarantined = "batch.quarantined"
        case appPaused = "app.paused"
        case appResumed = "app.resumed"
        case admissionClosed = "admission.closed"
        case admissionOpened = "admission.opened"
    }

    package let kind: Kind
    /// The event's fields, except its type and its time, as a list that alternates names and values.
    private(set) var words: [[UInt8]] = []

    package init(_ kind: Kind) { self.kind = kind }

    /// - Parameters:
    ///   - token: raw bytes; written as lower-case hex.
    ///   - status: the gateway's status; 0 if the gateway sent none.
    ///   - timestamp: when the gateway last found the token unregistered, in Unix milliseconds; 0 if the gateway sent no time.
    package init(
        _ kind: Kind, job: String, token: ArraySlice<UInt8>, reason: String = "", cause: String = "",
        status: Int = 0,
        timestamp: Int64 = 0
    ) {
        self.kind = kind
        add("job", job)
        add("token", hex: token)
        if !reason.isEmpty { add("reason", reason) }
        if !cause.isEmpty { add("cause", cause) }
        if status != 0 { add("status", String(status)) }
        if timestamp != 0 { add("timestamp", String(timestamp)) }
    }

    package mutating func add(_ field: String, _ value: String) {
        add(field, bytes: Array(value.utf8))
    }

    package mutating func add(_ field: String, bytes: [UInt8]) {
        words.append(Array(field.utf8))
        words.append(bytes)
    }

    package mutating func add(_ field: String, hex value: ArraySlice<UInt8>) {
        add(field, Hexadecimal.text(of: value))
    }
}

extension FarmEvent: CommandArgument {
    /// Writes the number of the words that follow; then the word `type`, the kind, and the names and values of the fields.
    package func write(to command: inout RESPCommand, _ keys: Keys) {
        command.append(2 + words.count)
        command.append("type")
        command.append(kind.rawValue)
        for word in words { command.append(word) }
    }
}
