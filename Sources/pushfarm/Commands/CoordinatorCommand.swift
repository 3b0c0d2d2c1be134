import ArgumentParser
import Coordinator
import EventLoop
import FarmConfiguration
import FarmLogging
import Logging

struct CoordinatorCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "coordinator",
        abstract: "Runs this host's coordinator and its workers, in the foreground.",
        discussion: """
            TERM or INT ends it in order: workers finish what is in the air. HUP reads
            apps and credentials again.

            Example:
              pushfarm coordinator --config /etc/pushfarm/pushfarm.yaml
            """)

    @OptionGroup var common: CommonOptions
    @OptionGroup var service: ServiceOptions

    @Option(help: ArgumentHelp("Worker processes, or auto for one a processor.", valueName: "n"))
    var workers: String?

    func run() throws {
        let configuration = try load()
        try configuration.requireApps()
        FarmLog.bootstrap(level: configuration.log.level, format: configuration.log.format)
        try StateFolder.make(configuration.stateDirectory)
        let service = CoordinatorService(configuration: configuration, reload: load)
        ProcessLimits.apply()
        try Loop.run { @Loop in try await service.run() }
    }

    private func load() throws(ConfigurationError) -> FarmConfiguration {
        try common.load(overrides, purpose: .coordinator)
    }

    private var overrides: [Override] {
        var overrides = service.overrides()
        if let workers { overrides.append(Override(key: "workers", text: workers, flag: "--workers")) }
        return overrides
    }
}
