package import RedisProtocol

/// Puts dead letters or refused jobs into the inbox again as a new job, or drops them. Each call moves either all the given
/// entries or none.
///
/// A call moves at most 1,000 dead letters into a job of at most 1 MiB, so that Redis is blocked for at most 5 ms.
package struct Replay: Request {
    /// The source of the replayed pushes: a stream's key without the app's prefix.
    package enum Stream: String, Sendable {
        case dead = "dead_letters"
        case refused
    }

    /// The new job that is added to the inbox.
    package struct NewJob: Sendable {
        /// The job's text, in the format that producers use.
        package var text: [UInt8]
        /// The job whose pushes are replayed.
        package var old: String
        /// The new job's id.
        package var id: String
        /// The new job's number among the replays of the old job: Redis refuses a number that is in use. 0 if the new job has no
        /// number.
        package var number: Int

        package init(text: [UInt8], old: String, id: String, number: Int) {
            (self.text, self.old, self.id, self.number) = (text, old, id, number)
        }
    }

    package enum Reply: Equatable, Sendable {
        /// The call removed `letters` entries from the stream. If the entries are dead letters, `pushes` is the number of pushes
        /// in them; otherwise, it is 0.
        case done(letters: Int, pushes: Int)
        /// An earlier call did this step. The values are the totals of this step and all earlier steps of the replay.
        case doneBefore(letters: Int, pushes: Int)
        /// The app is full, so nothing happened.
        case full(reason: String, retryAfter: Duration)
    }

    package static var script: Script? { .replay }

    package let words: [any CommandArgument]

    /// - Parameters:
    ///   - name: the replay's unique name.
    ///   - step: the step's number, from 1; the caller uses each number for only one step.
    ///   - selection: a text that describes what is replayed; all steps of a replay pass the same text.
    ///   - until: the last dead letter that the replay may take.
    ///   - life: how many seconds Redis remembers the replay.
    ///   - job: the new job; nil drops the dead letters.
    package init(
        name: String, step: Int, selection: String, until: EntryID, life: Int, stream: Stream, job: NewJob?,
        letters: [EntryID]
    ) {
        words = [
            ScriptKeys.prefixAndInbox, name, step, selection, until, life, stream.rawValue, job?.text,
            job?.old, job?.id, job.flatMap { $0.number > 0 ? $0.number : nil }, ArgumentList(letters),
        ]
    }

    package static func read(_ value: RESPValue) throws(StoreError) -> Reply {
        var reader = try ReplyReader(value, Self.self)
        let (status, first, second) = (try reader.integer(), try reader.integer(), try reader.integer())
        return switch status {
        case 1: .done(letters: first, pushes: second)
        case 0: .doneBefore(letters: first, pushes: second)
        default: .full(reason: try reader.text(), retryAfter: .milliseconds(first))
        }
    }
}

/// Reads the progress of a replay.
package struct ReadReplay: Request {
    package struct Progress: Equatable, Sendable {
        package let step: Int
        package let selection: String
        package let until: EntryID
        package let letters: Int
        package let pushes: Int
        package let jobs: Int
    }

    private static let fields = ["step", "of", "until", "letters", "pushes", "jobs"]

    package let words: [any CommandArgument]

    package init(name: String) {
        words = ["HMGET", AppKey { $0.replay(name) }, ArgumentList(Self.fields)]
    }

    /// The progress; nil if the replay does not exist.
    package static func read(_ value: RESPValue) throws(StoreError) -> Progress? {
        let fields = try ReplyFields(value, fields, Self.self)
        guard let step = fields.integer("step"), let selection = fields.text("of"),
            let until = fields.bytes("until")
        else { return nil }
        return Progress(
            step: step, selection: selection, until: EntryID(until), letters: fields.number("letters"),
            pushes: fields.number("pushes"), jobs: fields.number("jobs"))
    }
}
