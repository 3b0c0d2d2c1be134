import ArgumentParser
import EventLoop
import FarmStore

struct ResumeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "resume",
        abstract: "Lets a paused app go on.",
        discussion: """
            An app is paused when the gateway refuses its credentials, or when so many
            of its tokens are bad that they must be of the other environment; its queue
            is kept. After a refusal it goes on by itself when the credential file
            changes.

            Example:
              pushfarm resume demo
            """)

    @OptionGroup var common: CommonOptions

    @Argument(help: "The app.")
    var app: String

    func run() throws {
        let configuration = try common.load()
        let app = app
        let changed = try Loop.run { @Loop in
            let client = try await FarmClient.connect(configuration)
            defer { client.close() }
            guard try await client.apps().contains(app) else {
                throw CommandFailure.usage("there is no app \(app) in this farm")
            }
            return try await client.call(Resume(), app)
        }
        Console(json: common.json).show(
            .object(["app": .string(app), "resumed": .bool(changed)]),
            changed ? "\(app) goes on\n" : "\(app) was not paused\n")
    }
}
