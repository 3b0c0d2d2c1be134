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

    /// That only this replay has.
    package var name: String
    /// From 1, each once.
    package var step: Int
    /// What the replay is of, in words that are the same each time.
    package var selection: String
    /// The last letter that it may ever take.
    package var until: EntryID
    /// For how long it is remembered, in seconds.
    package var life: Int
    package var stream: Stream
    /// Nil: they are dropped.
    package var job: NewJob?
    package var letters: [EntryID]

    package init(
        name: String, step: Int, selection: String, until: EntryID, life: Int, stream: Stream, job: NewJob?,
        letters: [EntryID]
    ) {
        (self.name, self.step, self.selection, self.until) = (name, step, selection, until)
        (self.life, self.stream, self.job, self.letters) = (life, stream, job, letters)
    }

    package func write(_ keys: Keys, to command: inout RESPCommand) {
        command.append(keys, inbox: ())
        command.append(name)
        command.append(step)
        command.append(selection)
        command.append(until.bytes)
        command.append(life)
        command.append(stream.rawValue)
        command.append(job?.text ?? [])
        command.append(job?.old ?? "")
        command.append(job?.id ?? "")
        command.append(job.map { $0.number > 0 ? "\($0.number)" : "" } ?? "")
        for letter in letters { command.append(letter.bytes) }
    }

    package static func read(_ value: RESPValue) throws(StoreError) -> Reply {
        var reader = try ReplyReader(value, "replay")
        let (status, first, second) = (try reader.integer(), try reader.integer(), try reader.integer())
        return switch status {
        case 1: .done(letters: first, pushes: second)
        case 0: .doneBefore(letters: first, pushes: second)
        default: .full(reason: try reader.text(), retryAfter: .milliseconds(first))
        }
    }
}

/// What a replay of this name has done so far.
package struct ReadReplay: Request {
    package struct Progress: Equatable, Sendable {
        package let step: Int
        package let selection: String
        package let until: EntryID
        package let letters: Int
        package let pushes: Int
        package let jobs: Int
    }

    package var name: String

    package init(name: String) { self.name = name }

    package func write(_ keys: Keys, to command: inout RESPCommand) {
        command.append("HMGET")
        command.append(keys.replay(name))
        for field in ["step", "of", "until", "letters", "pushes", "jobs"] { command.append(field) }
    }

    /// Nil: there was none.
    package static func read(_ value: RESPValue) throws(StoreError) -> Progress? {
        guard let values = value.array, values.count == 6 else { throw .unexpectedReply("replay") }
        guard let step = values[0].text.flatMap({ Int(foreign: $0) }), let of = values[1].text,
            let until = values[2].bytes
        else { return nil }
        let numbers = values[3...].map { $0.text.flatMap { Int(foreign: $0) } ?? 0 }
        return Progress(
            step: step, selection: of, until: EntryID(until), letters: numbers[0], pushes: numbers[1],
            jobs: numbers[2])
    }
}
