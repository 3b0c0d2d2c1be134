import ArgumentParser
import ControlChannel
import EventLoop

struct BalanceCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "balance",
        abstract: "Turns the autoscaler on or off.",
        discussion: """
            auto is the same as scale auto; off fixes as many workers as there are now.

            Example:
              pushfarm balance auto --host alpha
              pushfarm balance off
            """)

    @OptionGroup var common: CommonOptions
    @OptionGroup var operation: OperatorOptions

    @Argument(help: ArgumentHelp("auto or off.", valueName: "mode"))
    var mode: Mode

    @Option(help: ArgumentHelp("Only this host; all without it.", valueName: "name"))
    var host: String?

    enum Mode: String, ExpressibleByArgument, CaseIterable { case auto, off }

    func run() throws {
        try common.operate(
            .scale, [mode == .auto ? "auto" : "+0"], on: host, operation, patience: .seconds(120))
    }
}
