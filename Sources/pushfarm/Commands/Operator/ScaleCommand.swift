import ArgumentParser
import ControlChannel
import EventLoop

struct ScaleCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "scale",
        abstract: "Changes the number of workers.",
        discussion: """
            New ones get shards when they are ready; those that go let go of their shards
            first, and nothing is lost or doubled. Kept in Redis: it counts more than the
            configuration, also after a restart, until default. auto: as many as the load
            takes.

            Example:
              pushfarm scale 4
              pushfarm scale +1 --host alpha
              pushfarm scale -1 --host alpha
              pushfarm scale auto
              pushfarm scale default
            """)

    @OptionGroup var common: CommonOptions
    @OptionGroup var operation: OperatorOptions

    @Argument(
        help: ArgumentHelp(
            "N, +N, -N, auto, or default for what is configured.", valueName: "workers"))
    var workers: String

    @Option(help: ArgumentHelp("Only this host; all without it.", valueName: "name"))
    var host: String?

    func run() throws {
        try common.operate(.scale, [workers], on: host, operation, patience: .seconds(120))
    }
}
