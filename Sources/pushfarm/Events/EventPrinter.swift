import EventLoop
import PushModel
import StoreProtocol

/// Prints events of the wanted types, each on a line.
@Loop final class EventPrinter {
    private let console: Console
    private let types: [String]
    private var sink: TextSink
    private var isEmpty = true

    /// - Parameter types: empty: all. One that ends in a dot stands for all that begin with it.
    init(console: Console, types: [String]) {
        (self.console, self.types) = (console, types)
        sink = TextSink()
    }

    /// What to say about a wanted type that no event can have; nil when there are such.
    nonisolated static func complaint(_ wanted: String) -> String? {
        let types = FarmEvent.Kind.allCases.map(\.rawValue)
        guard !types.contains(where: { isMeant($0, by: wanted) }) else { return nil }
        let nearest = NearestWord.find(wanted, among: types)
        return "there are no events of type \(PlainText.of(wanted, limit: 40)); "
            + (nearest.map { "did you mean \($0)?" } ?? "there are " + types.sorted().joined(separator: ", "))
    }

    private nonisolated static func isMeant(_ type: String, by wanted: String) -> Bool {
        wanted.hasSuffix(".") ? type.hasPrefix(wanted) : type == wanted
    }

    func isWanted(_ event: EventEntry) -> Bool {
        let type = event.type
        return types.isEmpty || types.contains { Self.isMeant(type, by: $0) }
    }

    func show(_ line: EventTail.Line) throws(CommandFailure) {
        guard isWanted(line.event) else { return }
        isEmpty = false
        try sink.write(console.json ? line.json.description : line.text(console.colours))
    }

    func flush() throws(CommandFailure) { try sink.flush() }

    /// Says so if nothing was shown; a program sees that by itself.
    func finish(_ what: String) throws(CommandFailure) {
        if isEmpty, !console.json { try sink.write("no " + what) }
        try flush()
    }
}
