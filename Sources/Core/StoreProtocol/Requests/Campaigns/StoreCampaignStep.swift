package import RedisProtocol

/// Performs one step of a campaign: adds pushes to its job, counts, and marks the step's devices. If the reply is lost, the same
/// call may be repeated.
///
/// A call is limited to 128 batches, 16,384 tokens and 32 strings of 8 to 32 KiB, so that Redis is blocked for at most 5 ms.
package struct StoreCampaignStep: Request {
    package enum Reply: Equatable, Sendable {
        /// The step is done. `woken` are the shards with new batches, and `nextDue` is the time until the first new delayed batch
        /// is due.
        case done(woken: [Int], nextDue: Duration?)
        /// An earlier call did this step, and its reply was lost.
        case doneBefore
        /// The campaign is paused. Nothing happened.
        case paused
        /// The campaign is cancelled. Nothing happened, and the next step must have the ending `cancelled`.
        case cancelled
        /// The app is full. Nothing happened.
        case full
        /// This merged campaign is paused or cancelled, or its record has another step. Nothing happened.
        case mergedUnavailable(String)
    }

    /// The new value of a string.
    package struct StoredString: Equatable, Sendable {
        /// The key without the prefix of the app's keys.
        package let key: String
        package let bytes: [UInt8]
        /// When the string expires, in Unix milliseconds; 0 if it does not expire.
        package let expiresAt: Int64

        package init(key: String, bytes: [UInt8], expiresAt: Int64 = 0) {
            (self.key, self.bytes, self.expiresAt) = (key, bytes, expiresAt)
        }
    }

    /// The changes of a campaign whose content the step's pushes contain. The number of the campaign's last step rises by 1.
    package struct Merged: Equatable, Sendable {
        package let campaign: String
        /// The number of the campaign's last step.
        package let step: Int
        /// The name of the campaign's last step; empty before its first step.
        package let lastStep: String
        /// The new values of fields of the campaign's record.
        package let fields: [String: String]
        /// The numbers to add to fields of the campaign's record.
        package let counts: [String: Int]

        package init(
            campaign: String, step: Int, lastStep: String, fields: [String: String], counts: [String: Int]
        ) {
            (self.campaign, self.step, self.lastStep) = (campaign, step, lastStep)
            (self.fields, self.counts) = (fields, counts)
        }
    }

    package static var script: Script? { .storeCampaignStep }
    /// Maximum number of strings in a call.
    package static let mostStrings = 32

    package var token: FenceToken
    package var campaign: String
    /// The number of the last step plus 1.
    package var step: Int
    /// The name of the last step; empty for the first step.
    package var lastStep: String
    /// A name that no other step of any campaign has.
    package var name: String
    /// The new values of fields of the campaign's record.
    package var fields: [ChangeCampaign.Field] = []
    /// The numbers to add to fields of the campaign's record. The script itself adds the accepted pushes to `accepted`.
    package var counts: [(name: String, number: Int)] = []
    /// The new values of strings, such as the bits of a chunk: at most ``mostStrings``, with different keys.
    package var strings: [StoredString] = []
    package var events: [FarmEvent] = []
    package var batches: [Split.NewBatch] = []
    /// The other campaigns whose content the pushes contain; empty in a step without batches.
    package var merged: [Merged] = []
    /// Not nil in the campaign's last step.
    package var ending: CampaignEnding?
    /// Why the campaign ended; empty if there is no reason.
    package var reason = ""
    /// How long to keep the job record after the job is finished, in seconds.
    package var keep = Retention().jobRecordSeconds

    package init(token: FenceToken, campaign: String, step: Int, after lastStep: String, name: String) {
        (self.token, self.campaign, self.step) = (token, campaign, step)
        (self.lastStep, self.name) = (lastStep, name)
    }

    package var words: [any CommandArgument] {
        [
            ScriptKeys.prefix, token, campaign, step, name, lastStep, keep, ending?.rawValue, reason,
            fields.count, counts.count, strings.count, events.count, batches.count, merged.count,
            ArgumentList(fields.flatMap { [$0.name, $0.value] }),
            ArgumentList(counts.flatMap { [$0.name, $0.number] as [any CommandArgument] }),
            ArgumentList(
                strings.flatMap { [$0.key, $0.bytes, $0.expiresAt] as [any CommandArgument] }),
            ArgumentList(events), ArgumentList(batches), ArgumentList(merged),
        ]
    }

    package static func read(_ value: RESPValue) throws(StoreError) -> Reply {
        var reader = try ReplyReader(value, Self.self)
        switch try reader.integer() {
        case 0: return .doneBefore
        case 2: return .paused
        case 3: return .cancelled
        case 4: return .full
        case 5: return .mergedUnavailable(try reader.text())
        default:
            let next = try reader.duration()
            return .done(woken: try reader.remainingShards(), nextDue: next)
        }
    }
}

extension StoreCampaignStep.Merged: CommandArgument {
    package func write(to command: inout RESPCommand, _ keys: Keys) {
        command.append(campaign)
        command.append(step)
        command.append(lastStep)
        command.append(fields.count)
        command.append(counts.count)
        for (name, value) in fields.sorted(by: { $0.key < $1.key }) {
            command.append(name)
            command.append(value)
        }
        for (name, number) in counts.sorted(by: { $0.key < $1.key }) {
            command.append(name)
            command.append(number)
        }
    }
}
