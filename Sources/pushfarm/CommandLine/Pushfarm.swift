import ArgumentParser

/// The root of all commands.
struct Pushfarm: ParsableCommand {
    static let version = "0.1.0-dev"

    static let configuration = CommandConfiguration(
        commandName: "pushfarm",
        abstract: "A push delivery farm: reads jobs from Redis, sends pushes to APNs.",
        discussion: """
            Try it, without an Apple account:

              pushfarm demo
              pushfarm up --simulate
              pushfarm push --app demo --token $TOKEN --alert "Hello" --wait

            Exit status: 0 done, 1 refused, failed or degraded, 2 usage or configuration
            error, 3 done in part or not in time, 75 Redis or gateway not reachable.
            """,
        version: version,
        groupedSubcommands: groups.map { CommandGroup(name: $0.name, subcommands: $0.first + $0.others) })

    /// The commands of one topic.
    struct Group: Sendable {
        let name: String
        /// The commands that `pushfarm --help` shows.
        let first: [any ParsableCommand.Type]
        /// The commands that only `pushfarm help all` shows.
        var others: [any ParsableCommand.Type] = []
    }

    /// All commands. `pushfarm --help` shows at most twenty commands, so a new command in `first` replaces a less used
    /// command.
    static let groups = [
        Group(
            name: "Run", first: [UpCommand.self, DemoCommand.self, CoordinatorCommand.self],
            others: [SimulatorCommand.self]),
        Group(
            name: "Send", first: [PushCommand.self, DevicesCommand.self, CampaignsCommand.self],
            others: [SegmentsCommand.self, ListsCommand.self, ScreenCommand.self, BanditCommand.self]),
        Group(
            name: "See",
            first: [
                StatusCommand.self, TopCommand.self, JobsCommand.self, JobCommand.self, EventsCommand.self,
                DoctorCommand.self,
            ],
            others: [BacklogCommand.self, FindCommand.self, PausedCommand.self, PingCommand.self]),
        Group(
            name: "Jobs and apps", first: [PauseCommand.self, ResumeCommand.self, CancelCommand.self],
            others: [PromoteCommand.self, RateCommand.self, AdmissionCommand.self]),
        Group(
            name: "Failed pushes", first: [DeadCommand.self, ReplayCommand.self],
            others: [SuppressedCommand.self, RefusedCommand.self]),
        Group(
            name: "Hosts and workers", first: [ScaleCommand.self, DrainCommand.self],
            others: [
                QuietCommand.self, StopCommand.self, RestartCommand.self, UpgradeCommand.self,
                ReloadCommand.self, ShardsCommand.self,
            ]),
        Group(name: "Debugging", first: [DebugCommand.self]),
    ]
}
