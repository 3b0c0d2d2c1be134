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

            Exit status: 0 done, 1 failed or degraded, 2 usage or configuration
            error, 75 Redis or gateway not reachable.
            """,
        version: version,
        subcommands: [
            UpCommand.self, DemoCommand.self, CoordinatorCommand.self, SimulatorCommand.self,
            PushCommand.self, ScreenCommand.self,
            JobCommand.self, JobsCommand.self, StatusCommand.self, ResumeCommand.self,
            ReleaseCommand.self, SuppressedCommand.self, FeedbackCommand.self, FsckCommand.self,
            DoctorCommand.self,
        ])
}
