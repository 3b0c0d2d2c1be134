import ArgumentParser
import EventLoop
import StoreProtocol

struct RefusedListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "Lists refused jobs, the latest first.",
        discussion: """
            Example:
              pushfarm refused list --app demo --limit 20
            """)

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions

    @Option(help: ArgumentHelp("Only this app's.", valueName: "name"), completion: .apps)
    var app: String?

    @Option(reads: ArgumentHelp("So many at most.", valueName: "count"))
    var limit = 50

    func validate() throws {
        guard (1...10_000).contains(limit) else { throw ValidationError("--limit is 1 to 10000.") }
    }

    func run() throws {
        let (app, limit) = (app, limit)
        let (found, now) = try common.withClient { client in
            var found: [(app: String, job: RefusedJob)] = []
            for name in try await client.apps(meant: app) {
                found += try await client.call(ReadRefused(.latest, count: limit), name).map { (name, $0) }
            }
            let sorted = found.sorted { $0.job.id.milliseconds > $1.job.id.milliseconds }
            return (Array(sorted.prefix(limit)), try await client.clock().clampedMilliseconds)
        }
        let console = Console(json: common.json)
        console.show(
            .object(["refused": .array(found.map { $0.job.json(app: $0.app) })]),
            Self.text(found, at: now, console.style))
    }

    static func text(
        _ found: [(app: String, job: RefusedJob)], at now: Int64, _ style: TextStyle
    ) -> String {
        guard !found.isEmpty else { return "no refused jobs\n" }
        var table = Table([
            "ID": .right, "APP": .left, "AGE": .right, "JOB": .left, "FIELD": .left, "REASON": .left,
        ])
        for (app, job) in found {
            table.add(
                .init("\(job.id)"), .init(app),
                .init(Figures.brief(.milliseconds(max(0, now - job.id.milliseconds)))),
                .init(PlainText.of(job.job)), .init(PlainText.of(job.field), .red),
                .init(
                    PlainText.of(job.reason, limit: .max)
                        + (job.jobs > 1 ? " (\(Figures.grouped(job.jobs)) jobs)" : ""))
            )
        }
        return table.text(style)
    }
}

extension RefusedJob {
    /// With its stable field names; the original is for `show`.
    func json(app: String, original: Bool = false) -> JSONValue {
        var fields: [JSONValue.Field] = [
            .init(name: "id", value: .string(id.description)), .init(name: "app", value: .string(app)),
            .init(name: "at", value: .number(id.milliseconds)), .init(name: "job", value: .string(job)),
            .init(name: "field", value: .string(field)), .init(name: "position", value: .number(position)),
            .init(name: "reason", value: .string(reason)),
            .init(name: "bytes", value: .number(self.original.count)),
            .init(name: "jobs", value: .number(jobs)),
        ]
        if original {
            fields.append(
                .init(name: "original", value: .string(String(decoding: self.original, as: UTF8.self))))
        }
        return .object(fields)
    }
}
