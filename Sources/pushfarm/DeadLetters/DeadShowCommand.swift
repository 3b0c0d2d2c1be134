import ArgumentParser
import EventLoop
import FarmLogging
import StoreProtocol

struct DeadShowCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Shows dead letters with payloads and tokens.",
        discussion: """
            Example:
              pushfarm dead show 1780000000123-0
              pushfarm dead show 1780000000123-0 --json

            With --json each letter is a document on a line of its own.
            """)

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions

    @Option(help: ArgumentHelp("The app, when several are there.", valueName: "name"), completion: .apps)
    var app: String?

    @Argument(help: "Ids, as dead list --letters names them.")
    var ids: [String]

    func run() throws {
        let (ids, app) = (ids, app)
        _ = try DeadLetterOptions.filter(of: ids)
        let (found, missing) = try common.withClient { client in
            let apps = try await client.apps(meant: app)
            var found: [DecodedDeadLetter] = []
            var missing: [String] = []
            for id in ids {
                var isFound = false
                for name in apps {
                    let request = ReadDeadLetters(.only(EntryID(Array(id.utf8))))
                    for letter in try await client.call(request, name).letters {
                        guard let open = DecodedDeadLetter(letter, app: name) else {
                            throw CommandFailure.failed("\(id) of \(name) cannot be read")
                        }
                        found.append(open)
                        isFound = true
                    }
                }
                if !isFound { missing.append(id) }
            }
            return (found, missing)
        }
        let console = Console(json: common.json)
        for (index, letter) in found.enumerated() {
            if index > 0 { console.say("") }
            console.show(letter.json, letter.text(console.style))
        }
        guard missing.isEmpty else {
            throw CommandFailure.failed("there is no dead letter \(missing.joined(separator: ", "))")
        }
    }
}
