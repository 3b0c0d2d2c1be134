import ArgumentParser

struct SegmentsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "segments",
        abstract: "Counts, lists and saves segments of stored devices.",
        discussion: """
            A segment is an expression over attributes of devices. In an expression, &
            means "and", | means "or", and ! means "not". The attributes are tag, platform,
            service, environment, zone, lang, app, os, model and seen. The page
            docs/segments.md describes expressions.

            Example:
              pushfarm segments count 'tag:sport & (lang:de | lang:at) & seen<30d'
              pushfarm segments save fans 'tag:sport & zone:Europe/*' --app demo
              pushfarm segments list --app demo
            """,
        subcommands: [
            SegmentsCountCommand.self, SegmentsListCommand.self, SegmentsSaveCommand.self,
            SegmentsRemoveCommand.self, SegmentsSampleCommand.self,
        ])
}

/// The app whose segments a command uses.
struct SegmentAppOptions: ParsableArguments, Sendable {
    @Option(
        help: ArgumentHelp("The app. Not needed when only one app is configured.", valueName: "name"),
        completion: .apps)
    var app: String?
}
