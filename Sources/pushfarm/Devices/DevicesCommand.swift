import ArgumentParser

struct DevicesCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "devices",
        abstract: "Registers, imports, shows and removes stored devices.",
        discussion: """
            Example:
              pushfarm devices set d-1 --app demo --token $TOKEN --user u-7 --tag sport
              pushfarm devices import devices.csv --app demo
              pushfarm devices show d-1 --app demo
              pushfarm devices forget --user u-7 --app demo
            """,
        subcommands: [
            DevicesSetCommand.self, DevicesRemoveCommand.self, DevicesForgetCommand.self,
            DevicesPruneCommand.self,
            DevicesImportCommand.self, DevicesExportCommand.self, DevicesShowCommand.self,
            DevicesRefusedCommand.self,
        ])
}

/// The app whose devices a command reads or changes.
struct DeviceAppOptions: ParsableArguments, Sendable {
    @Option(
        help: ArgumentHelp("The app. Not needed when only one app is configured.", valueName: "name"),
        completion: .apps)
    var app: String?
}
