import ArgumentParser
import EventLoop
import Segments
import StoreProtocol

struct SegmentsCountCommand: FarmCommand {
    static let configuration = CommandConfiguration(
        commandName: "count",
        abstract: "Counts the devices of a segment.",
        discussion: """
            Counts only devices that can get pushes. The command reads only the bitmaps of
            the attributes and no device records, so a count over 10 million devices takes
            about a second.

            Example:
              pushfarm segments count 'tag:sport & !tag:muted' --app demo
              pushfarm segments count fans --app demo --json
            """)

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions
    @OptionGroup var choice: SegmentAppOptions

    @Argument(help: ArgumentHelp("An expression, or the name of a saved segment.", valueName: "segment"))
    var segment: String

    func check() throws(CommandFailure) {
        if !ChosenSegment.isName(segment) { _ = try SegmentExpression(reading: segment) }
    }

    func run(_ client: FarmClient, _ console: Console) async throws {
        let app = try await client.chosenApp(choice.app)
        let reader = try await client.registry(of: app)
        let chosen = try await ChosenSegment.find(segment, app, client)
        let today = try await client.today()
        let counts = try await client.read { () throws(StoreError) in
            let partitions = try await reader.partitions()
            return try await reader.counts(of: [chosen.expression, .all], today: today, partitions)
        }
        console.show(
            .object([
                "app": .string(app), "name": .text(chosen.name), "expression": .string(chosen.text),
                "devices": .number(counts[0]), "all_devices": .number(counts[1]),
            ]),
            "\(Figures.grouped(counts[0])) of \(Figures.counted(counts[1], "device", "devices"))\n")
    }
}
