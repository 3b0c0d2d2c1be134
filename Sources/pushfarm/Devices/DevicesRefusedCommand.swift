import ArgumentParser
import EventLoop
import StoreProtocol

struct DevicesRefusedCommand: FarmCommand {
    static let configuration = CommandConfiguration(
        commandName: "refused",
        abstract: "Lists refused device inputs, the latest first.",
        discussion: """
            The farm keeps about the last 1,000 refused device inputs of each app, and of
            each input the first 64 KiB. With --json, the list has the kept text of each
            input.

            Example:
              pushfarm devices refused --app demo --limit 20
            """)

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions

    @Option(help: ArgumentHelp("Only this app's device inputs.", valueName: "name"), completion: .apps)
    var app: String?

    @Option(reads: ArgumentHelp("The largest number of device inputs to list.", valueName: "count"))
    var limit = 50

    func validate() throws {
        guard (1...1000).contains(limit) else { throw ValidationError("--limit must be from 1 to 1000.") }
    }

    func run(_ client: FarmClient, _ console: Console) async throws {
        let found = try await client.latest(
            limit, of: app, by: ReadRefused(.latest, of: .devices, count: limit), \.id)
        let now = try await client.clock().clampedMilliseconds
        console.show(
            .object(["refused": .array(found.map { $0.entry.deviceJSON(app: $0.app) })]),
            Self.text(found, at: now, console.style))
    }

    static func text(
        _ found: [(app: String, entry: RefusedEntry)], at now: Int64, _ style: TextStyle
    ) -> String {
        guard !found.isEmpty else { return "no refused device inputs\n" }
        var table = Table(["APP": .left, "AGE": .right, "DEVICE": .left, "FIELD": .left, "REASON": .left])
        for (app, device) in found {
            table.add(
                .init(app), .init(Figures.brief(.milliseconds(max(0, now - device.id.milliseconds)))),
                .init(PlainText.of(device.subject)), .init(PlainText.of(device.field), .red),
                .init(
                    PlainText.of(device.reason, limit: .max)
                        + (device.count > 1 ? " (\(Figures.grouped(device.count)) inputs)" : "")))
        }
        return table.text(style)
    }
}

extension RefusedEntry {
    func deviceJSON(app: String) -> JSONValue {
        .object([
            "app": .string(app), "at": .number(id.milliseconds), "device": .string(subject),
            "field": .string(field), "position": .number(position), "reason": .string(reason),
            "inputs": .number(count), "original": .string(String(decoding: original, as: UTF8.self)),
        ])
    }
}
