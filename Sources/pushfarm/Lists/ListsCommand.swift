import ArgumentParser

struct ListsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "lists",
        abstract: "Uploads and shows lists of tokens for campaigns.",
        discussion: """
            A list has the tokens to which a campaign sends, if the devices are not stored
            in the farm. Each row has a token, and can have a language, a time zone and
            values for the placeholders of the payload. A list expires 31 days after its
            upload, and 31 days after each start of a campaign to it.

            Example:
              pushfarm lists upload readers.csv --name readers --app demo
              pushfarm lists show readers --app demo
              pushfarm lists remove readers --app demo
            """,
        subcommands: [
            ListsUploadCommand.self, ListsListCommand.self, ListsShowCommand.self, ListsRemoveCommand.self,
        ])
}
