import EventLoop
import StoreProtocol

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
