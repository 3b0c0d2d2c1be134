import ArgumentParser

/// Which job a command is about.
struct JobChoice: ParsableArguments {
    @Argument(help: "The job's id.")
    var job: String

    @Option(
        help: ArgumentHelp("The app, when several have a job of that id.", valueName: "name"),
        completion: .apps)
    var app: String?
}
