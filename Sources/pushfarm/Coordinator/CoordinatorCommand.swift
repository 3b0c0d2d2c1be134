import ArgumentParser
import Coordinator
import EventLoop
import FarmConfiguration
import FarmLogging
import Logging

struct CoordinatorCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "coordinator",
        abstract: "Runs this host's coordinator and workers.",
        discussion: """
            The signals TERM and INT stop the coordinator gracefully: its workers finish
            the pushes in flight. The signal HUP reloads the configuration and the
            credentials.

            Example:
              pushfarm coordinator --config /etc/pushfarm/pushfarm.yaml
            """)

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions
    @OptionGroup var service: ServiceOptions

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "The number of worker processes, or \"auto\" for one per processor.", valueName: "n"))
    var workers: String?

    /// Set only by a predecessor that starts its successor.
    @Flag(help: .hidden) var successor = false

    func run() throws {
        let configuration = try load()
        try configuration.requireApps()
        FarmLog.bootstrap(level: configuration.log.level, format: configuration.log.format)
        try StateFolder.make(configuration.stateDirectory)
        // The standard error of a successor is already the log file, because the successor inherits it from its
        // predecessor.
        let former = configuration.log.file == nil || successor ? nil : LogFile.keepStandardError()
        if let file = configuration.log.file {
            do { try LogFile.take(file) } catch { throw CommandFailure.usage("log.file: \(error)") }
        }
        let service = CoordinatorService(configuration: configuration, isSuccessor: successor, reload: load)
        ProcessLimits.apply()
        do { try Loop.run { @Loop in try await service.run() } } catch {
            // The reason of the failure goes to the log file, and also to the terminal or service manager that started
            // the process.
            if let former {
                Logger(label: "coordinator").critical("\((error as? CommandFailure)?.message ?? "\(error)")")
                LogFile.restoreStandardError(former)
            }
            throw error
        }
    }

    private func load() throws(ConfigurationError) -> Configuration {
        try common.load(overrides, purpose: .coordinator, findsLocalFarm: false)
    }

    private var overrides: [Override] {
        var overrides = service.overrides()
        if let workers { overrides.append(Override(key: "workers", text: workers, flag: "--workers")) }
        return overrides
    }
}
