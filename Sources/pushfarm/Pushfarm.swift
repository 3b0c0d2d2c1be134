import ArgumentParser

/// The root of all commands.
struct Pushfarm: ParsableCommand {
    static let version = "0.1.0-dev"

    static let configuration = CommandConfiguration(
        commandName: "pushfarm",
        abstract: "A push delivery farm: jobs in by a Redis list, pushes out through isolated workers.",
        discussion: """
            Try it, without an Apple account:

              pushfarm demo
              pushfarm up --simulate
              pushfarm push --app demo --token $TOKEN --alert "Hello" --wait

            Exit status: 0 done, 1 refused, failed or degraded, 2 usage or configuration
            error, 3 not in time or not everywhere, 75 Redis or gateway not reachable.
            """,
        version: version,
        groupedSubcommands: [
            CommandGroup(
                name: "Run",
                subcommands: [
                    UpCommand.self, DemoCommand.self, CoordinatorCommand.self, SimulatorCommand.self,
                ]),
            CommandGroup(name: "Send", subcommands: [PushCommand.self, ScreenCommand.self]),
            CommandGroup(
                name: "See",
                subcommands: [
                    StatusCommand.self, TopCommand.self, BacklogCommand.self, JobCommand.self,
                    JobsCommand.self,
                    FindCommand.self, EventsCommand.self, ShardsCommand.self, DoctorCommand.self,
                    PingCommand.self,
                ]),
            CommandGroup(
                name: "Jobs and apps",
                subcommands: [
                    PauseCommand.self, ResumeCommand.self, CancelCommand.self, PromoteCommand.self,
                    RateCommand.self, GateCommand.self, QuarantineCommand.self, ReleaseCommand.self,
                ]),
            CommandGroup(
                name: "What failed",
                subcommands: [
                    DeadCommand.self, ReplayCommand.self, RefusedCommand.self, SuppressedCommand.self,
                    FeedbackCommand.self, FsckCommand.self,
                ]),
            CommandGroup(
                name: "Hosts and workers",
                subcommands: [
                    ScaleCommand.self, BalanceCommand.self, QuietCommand.self, DrainCommand.self,
                    StopCommand.self, RestartCommand.self, UpgradeCommand.self, ReloadCommand.self,
                    TakeoverCommand.self, KillCommand.self, PurgeCommand.self, DumpCommand.self,
                    LogLevelCommand.self,
                ]),
        ])
}
