import ArgumentParser
import EventLoop
import Segments
import StoreProtocol

struct SegmentsListCommand: FarmCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "Lists the saved segments with their numbers of devices.",
        discussion: """
            Example:
              pushfarm segments list --app demo
              pushfarm segments list --app demo --json

            The exit status is 1 when a saved segment cannot be read.
            """)

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions
    @OptionGroup var choice: SegmentAppOptions

    func run(_ client: FarmClient, _ console: Console) async throws {
        let app = try await client.chosenApp(choice.app)
        let reader = try await client.registry(of: app)
        let saved = try await client.call(ReadSegments(), app)
        // A later release may have saved an expression that this release cannot parse.
        let parsed = saved.segments.map { try? SegmentExpression(parsing: $0.expression) }
        let clock = try await client.clock()
        let today = try await client.today()
        let counts = try await client.read { () throws(StoreError) in
            let partitions = try await reader.partitions()
            return try await reader.counts(of: parsed.compactMap(\.self), today: today, partitions)
        }
        var rest = counts[...]
        let rows = zip(saved.segments, parsed).map { segment, expression in
            Row(segment: segment, devices: expression == nil ? nil : rest.popFirst())
        }
        console.show(
            .object(["app": .string(app), "segments": .array(rows.map(\.json))]),
            Row.text(rows, at: clock.clampedMilliseconds, console.style))
        let unreadable = saved.unreadable + rows.filter { $0.devices == nil }.map(\.segment.name)
        guard unreadable.isEmpty else {
            let names = unreadable.prefix(20).map { PlainText.of($0, limit: 64) }.joined(separator: ", ")
            throw CommandFailure.failed("these saved segments cannot be read: \(names)")
        }
    }

    /// A saved segment and its number of devices.
    struct Row {
        let segment: SavedSegment
        /// Nil if the expression cannot be read.
        let devices: Int?

        var json: JSONValue {
            .object([
                "name": .string(segment.name), "expression": .string(segment.expression),
                "devices": .whole(devices), "by": .string(segment.by), "at": .number(segment.at),
            ])
        }

        /// - Parameter now: Unix milliseconds of Redis's clock.
        static func text(_ rows: [Row], at now: Int64, _ style: TextStyle) -> String {
            guard !rows.isEmpty else { return "no saved segments\n" }
            var table = Table(["SEGMENT": .left, "DEVICES": .right, "AGE": .right, "EXPRESSION": .left])
            for row in rows {
                table.add(
                    .init(row.segment.name), .init(row.devices.map { Figures.short($0) } ?? "-"),
                    .init(Figures.brief(.milliseconds(max(0, now - row.segment.at)))),
                    .init(row.segment.expression))
            }
            return table.text(style)
        }
    }
}
