import ArgumentParser
import ControlChannel
import EventLoop

struct ScaleCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "scale",
        abstract: "Changes the number of workers.",
        discussion: """
            A new worker gets shards when it is ready; one that leaves hands its shards
            over first. No push is lost or sent twice. auto turns the autoscaler on. The
            number is stored in Redis and overrides the configuration, after a restart too;
            default removes it. +0 fixes the number of workers that run now.

            Example:
              pushfarm scale 4 all
              pushfarm scale +1 alpha
              pushfarm scale -1 alpha
              pushfarm scale auto all
              pushfarm scale default all
            """)

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions
    @OptionGroup var operation: OperatorOptions

    @Argument(
        help: ArgumentHelp(
            "N, +N, -N, auto, or default for what is configured.", valueName: "workers"))
    var workers: String

    @Argument(help: ArgumentHelp("The host, or all.", valueName: "host"))
    var host: String

    func run() throws {
        try common.operate(.scale, [workers], on: operation.hosts(host), operation, patience: .seconds(120))
    }
}
