import ArgumentParser

struct CampaignsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "campaigns",
        abstract: "Sends a message to a segment of devices, on a schedule.",
        discussion: """
            A campaign is a JSON object with an audience, a message and a schedule. Its id
            is the id of a job, so job, find, events, dead and replay work for campaigns,
            too. docs/campaigns.md describes all fields.

            Example:
              pushfarm campaigns plan edition.json --app demo
              pushfarm campaigns create edition.json --app demo
              pushfarm campaigns start ed-2026-11-24
              pushfarm campaigns show ed-2026-11-24
            """,
        subcommands: [
            CampaignsCreateCommand.self, CampaignsPlanCommand.self, CampaignsTestCommand.self,
            CampaignsStartCommand.self, CampaignsPauseCommand.self, CampaignsResumeCommand.self,
            CampaignsCancelCommand.self,
            CampaignsRateCommand.self, CampaignsDoneCommand.self, CampaignsShowCommand.self,
            CampaignsListCommand.self,
        ])
}

/// The campaign that a command applies to.
struct CampaignChoice: ParsableArguments, Sendable {
    @Argument(help: ArgumentHelp("The campaign's id.", valueName: "campaign"))
    var campaign: String

    @Option(
        help: ArgumentHelp("The app, if several apps have a campaign with this id.", valueName: "name"),
        completion: .apps)
    var app: String?
}
