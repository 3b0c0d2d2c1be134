import ArgumentParser
import EventLoop
import StoreProtocol

struct DeadExportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Exports dead letters to a file, one push a line.",
        discussion: """
            Each line is a JSON document: token, payload, options (in the words of the
            job contract), reason, status, cause, attempts, at (Unix milliseconds), app,
            job, dead_letter. The dead letters are kept: dead drop deletes them.

            Example:
              pushfarm dead export letters.jsonl --reason PayloadTooLarge
              pushfarm dead export - --app demo | jq -r .token
            """)

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions
    @OptionGroup var selection: DeadLetterOptions

    @Argument(help: "Where to; - is standard output.")
    var file: String

    func run() throws {
        let (filter, app, file) = (try selection.filter(), selection.app, file)
        let isQuiet = common.json || file == "-"
        let (letters, pushes) = try common.withClient { client in
            let apps = try await client.apps(meant: app)
            var total = 0
            for name in apps { total += try await client.call(CountDeadLetters(), name).pushes }
            let output = try DeadLetterFile(file == "-" ? nil : file, total: total, quiet: isQuiet)
            for name in apps {
                try await DeadLetterStore(client: client, app: name).read(filter) {
                    (letter) throws(CommandFailure) in
                    try output.write(letter, app: name)
                    return true
                }
            }
            try output.finish()
            return (output.letters, output.pushes)
        }
        guard file != "-" else { return }
        Console(json: common.json).show(
            .object(["dead_letters": .number(letters), "pushes": .number(pushes)]),
            "\(Figures.counted(pushes, "push", "pushes")) of "
                + "\(Figures.counted(letters, "dead letter", "dead letters")) exported\n")
    }
}
