package import RedisProtocol

/// Puts dead letters, or refused jobs, into the inbox again as a new job, or drops them: all of one call, or none.
///
/// Bounds, so that Redis is not held up for more than 5 ms: 1,000 letters, 1 MiB of job.
package struct Replay: Request {
    /// The key that the jobs come from, without the app's prefix.
    package enum Stream: String, Sendable {
        case dead = "dead_letters"
        case refused
    }

    /// What goes into the inbox.
    package struct NewJob: Sendable {
        /// The job as a producer writes it.
        package var text: [UInt8]
        /// The job whose pushes they are.
        package var old: String
        /// Its id, and its number among the replays of the old job; 0: it is none of them.
        package var id: String
        package var number: Int

        package init(text: [UInt8], old: String, id: String, number: Int) {
            (self.text, self.old, self.id, self.number) = (text, old, id, number)
        }
    }

    package enum Reply: Equatable, Sendable {
        /// So many letters and pushes were taken out.
        case done(letters: Int, pushes: Int)
        /// This step was done before; of all steps so far.
        case doneBefore(letters: Int, pushes: Int)
        /// The app is full: nothing happened.
        case full(reason: String, retryAfter: Duration)
    }

    package static var script: Script? { .replay }

    package let words: [any CommandWord]

    /// - Parameters:
    ///   - name: unique.
    ///   - step: from 1, each once.
    ///   - selection: what the replay is of, in words that are the same each time.
    ///   - until: the last dead letter that it may ever take.
    ///   - life: for how many seconds it is remembered.
    ///   - job: nil: the dead letters are dropped.
    package init(
        name: String, step: Int, selection: String, until: EntryID, life: Int, stream: Stream, job: NewJob?,
        letters: [EntryID]
    ) {
        words = [
            ScriptKeys.prefixAndInbox, name, step, selection, until, life, stream.rawValue, job?.text,
            job?.old, job?.id, job.flatMap { $0.number > 0 ? $0.number : nil }, WordList(letters),
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

    package let words: [any CommandWord]

    package init(name: String) {
        words = ["HMGET", AppKey { $0.replay(name) }, WordList(Self.fields)]
    }

    /// Nil: there was none.
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
