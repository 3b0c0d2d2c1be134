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

struct ReloadCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reload",
        abstract: "Reloads configuration and credentials.",
        discussion: """
            The same as the signal HUP. The configuration is checked first: when it has a
            mistake, nothing changes, and the answer names it. Connections with the old
            credentials close when they are idle. Ends a drain.

            Example:
              pushfarm reload all
              pushfarm reload alpha --dry-run
            """)

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions
    @OptionGroup var operation: OperatorOptions

    @Argument(help: ArgumentHelp("The host, or all.", valueName: "host"))
    var host: String

    func run() throws {
        try common.operate(.reload, on: operation.hosts(host), operation)
    }
}

struct UpgradeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "upgrade",
        abstract: "Replaces a running coordinator with a new program.",
        discussion: """
            Starts the installed program, or the one that the configuration names
            (program), beside the old one. The successor gets the shards a few at a time,
            each when none of its pushes is in flight, and at the end the host's name; then
            the predecessor exits. Hosts follow one after the other. When the successor
            does not start, or exits, the predecessor continues. Not in a container or
            under supervisord, foreman or pushfarm up, where the exit of the first process
            ends the service: restart the service instead.

            Example:
              pushfarm upgrade all
              pushfarm upgrade alpha --abort
            """)

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions
    @OptionGroup var operation: OperatorOptions

    @Argument(help: ArgumentHelp("The host, or all.", valueName: "host"))
    var host: String

    @Flag(help: "Aborts a running upgrade.")
    var abort = false

    func run() throws {
        try common.operate(
            .upgrade, abort ? ["--abort"] : [], on: host == "all" ? nil : host, operation,
            patience: .seconds(300),
            oneByOne: true)
    }
}
