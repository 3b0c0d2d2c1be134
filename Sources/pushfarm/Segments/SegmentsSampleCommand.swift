import ArgumentParser
import EventLoop
import PushModel
import RedisClient
import Registry
import Segments
import StoreProtocol

struct SegmentsSampleCommand: FarmCommand {
    static let configuration = CommandConfiguration(
        commandName: "sample",
        abstract: "Shows ten random devices of a segment.",
        discussion: """
            Each device of the segment is shown with the same probability. The output has
            only the first characters of each device token; "pushfarm devices show" prints
            whole tokens.

            Example:
              pushfarm segments sample 'tag:sport & lang:de' --app demo
              pushfarm segments sample fans --app demo --json

            The exit status is 1 when the segment has no devices.
            """)

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions
    @OptionGroup var choice: SegmentAppOptions

    @Argument(help: ArgumentHelp("An expression, or the name of a saved segment.", valueName: "segment"))
    var segment: String

    private static let size = 10

    func check() throws(CommandFailure) {
        if !ChosenSegment.isName(segment) { _ = try SegmentExpression(reading: segment) }
    }

    func run(_ client: FarmClient, _ console: Console) async throws {
        let app = try await client.chosenApp(choice.app)
        let reader = try await client.registry(of: app)
        let chosen = try await ChosenSegment.find(segment, app, client)
        let today = try await client.today()
        let (devices, count) = try await client.read { () throws(StoreError) in
            var random = SeededRandom(seed: .random(in: 0...UInt64.max))
            let partitions = try await reader.partitions()
            return try await reader.sample(
                Self.size, of: chosen.expression, today: today, partitions, using: &random)
        }
        let records = devices.map(\.record).sorted { $0.id < $1.id }
        console.show(
            .object([
                "app": .string(app), "name": .text(chosen.name), "expression": .string(chosen.text),
                "devices": .number(count),
                "sample": .array(records.map { $0.json(tokens: .shortened) }),
            ]),
            Self.text(records, of: count, console.style))
        if count == 0 { throw CommandFailure.failed() }
    }

    static func text(_ records: [DeviceRecord], of count: Int, _ style: TextStyle) -> String {
        guard count > 0 else { return "the segment has no devices\n" }
        var table = Table([
            "DEVICE": .left, "USER": .left, "TOKEN": .left, "ZONE": .left, "LANG": .left, "TAGS": .left,
        ])
        for record in records {
            table.add(
                .init(record.id), .init(record.user ?? "-"),
                .init(record.addresses.first.map { AddressText.shortened.text(of: $0.address) } ?? "-"),
                .init(record.zone ?? "-"), .init(record.lang ?? "-"),
                .init(record.tags.joined(separator: " ")))
        }
        return table.text(style)
            + "\(records.count) of \(Figures.counted(count, "device", "devices"))\n"
    }
}
