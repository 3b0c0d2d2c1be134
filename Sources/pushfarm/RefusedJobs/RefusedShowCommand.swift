import ArgumentParser
import EventLoop
import FarmLogging
import StoreProtocol

struct RefusedShowCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Shows the original text of a refused job.",
        discussion: """
            Example:
              pushfarm refused show 1780000000123-0
              pushfarm refused show 1780000000123-0 --original > job.json
            """)

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions

    @Argument(help: "Its id, as refused list names it.")
    var id: String

    @Option(help: ArgumentHelp("The app, when several are there.", valueName: "name"), completion: .apps)
    var app: String?

    @Flag(help: "Writes the job alone, byte for byte.")
    var original = false

    func run() throws {
        let (id, app) = (id, app)
        let (name, job) = try common.withClient { client in
            return try await RefusedJobStore.find(id, app, client)
        }
        if original {
            var sink = try TextSink(nil)
            try sink.write(bytes: job.original)
            return try sink.finish()
        }
        let console = Console(json: common.json)
        console.show(job.json(app: name, original: true), text(name, job, console))
    }

    private func text(_ app: String, _ job: RefusedJob, _ console: Console) -> String {
        var table = Table(["": .left, "": .left])
        table.add(.init("app", .dim), .init(app))
        if !job.job.isEmpty { table.add(.init("job", .dim), .init(PlainText.of(job.job))) }
        table.add(.init("at", .dim), .init("\(Timestamp(milliseconds: job.id.milliseconds))"))
        table.add(.init("field", .dim), .init(PlainText.of(job.field), .red))
        table.add(.init("position", .dim), .init(Figures.grouped(job.position)))
        table.add(.init("reason", .dim), .init(PlainText.of(job.reason)))
        let size = Figures.bytes(Int64(job.original.count)) + (job.mayBeCut ? ", cut" : "")
        table.add(.init("size", .dim), .init(size))
        let text = String(decoding: job.original.prefix(2000), as: UTF8.self)
        return table.text(console.style) + PlainText.of(text, limit: 2000) + "\n"
    }
}
