import EventLoop
import StoreProtocol

/// The dead letters of one app, as a command sees them.
@Loop struct DeadLetterStore {
    let client: FarmClient
    let app: String

    /// Read at a time: a letter may have a megabyte.
    private static let portion = 64

    /// Gives the letters that a filter covers to `body`, the oldest first, until it answers false.
    ///
    /// - Parameter last: no letter behind it; nil: what is there now.
    func read(
        _ filter: DeadLetterFilter, until last: EntryID? = nil,
        _ body: (DeadLetter) async throws(CommandFailure) -> Bool
    ) async throws(CommandFailure) {
        guard let end = if let last { last } else { try await self.last() } else { return }
        var range = StreamRange.since(0)
        if let since = filter.since {
            let clock = try await client.clock()
            range = .since(since.past(now: clock.components.seconds * 1000))
        }
        if let first = filter.ids.map({ EntryID(Array($0.utf8)) }).min() {
            range = .since(first.milliseconds)
        }
        while true {
            let reply = try await client.call(ReadDeadLetters(range, count: Self.portion), app)
            for letter in reply.letters {
                if end < letter.id { return }
                if filter.covers(letter), try await !body(letter) { return }
            }
            guard let next = reply.next else { return }
            range = .after(next)
        }
    }

    /// The youngest letter; nil: there is none.
    func last() async throws(CommandFailure) -> EntryID? {
        try await client.call(LastDeadLetter(), app)
    }
}

/// The file that dead letters are written to, a push a line.
@Loop final class DeadLetterFile {
    private var sink: TextSink
    private var progress: ProgressLine
    private(set) var letters = 0
    private(set) var pushes = 0

    /// - Parameter path: nil: standard output.
    init(_ path: String?, total: Int, quiet: Bool) throws(CommandFailure) {
        sink = try TextSink(path)
        progress = ProgressLine("pushes", total: total, quiet: quiet)
    }

    func write(_ letter: DeadLetter, app: String) throws(CommandFailure) {
        guard let open = DecodedDeadLetter(letter, app: app) else {
            throw .failed("\(letter.id) of \(app) cannot be read")
        }
        for line in open.lines { try sink.write(line.description) }
        letters += 1
        pushes += letter.pushes
        progress.update(pushes)
    }

    func finish() throws(CommandFailure) {
        progress.finish()
        try sink.finish()
    }
}
