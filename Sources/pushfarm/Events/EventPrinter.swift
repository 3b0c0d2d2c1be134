import EventLoop
import FarmStore

/// Prints events of the wanted types, each on a line.
@Loop final class EventPrinter {
    private let console: Console
    private let types: [String]
    private var sink: TextSink

    /// - Parameter types: empty: all. One that ends in a dot stands for all that begin with it.
    init(console: Console, types: [String]) {
        (self.console, self.types) = (console, types)
        sink = TextSink()
    }

    func isWanted(_ event: EventEntry) -> Bool {
        let type = event.type
        return types.isEmpty || types.contains { $0.hasSuffix(".") ? type.hasPrefix($0) : type == $0 }
    }

    func show(_ line: EventTail.Line) throws(CommandFailure) {
        guard isWanted(line.event) else { return }
        try sink.write(console.json ? line.json.description : line.text(console.colours))
    }

    func flush() throws(CommandFailure) { try sink.flush() }
}
