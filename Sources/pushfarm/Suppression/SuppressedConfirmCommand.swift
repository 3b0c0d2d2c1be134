import ArgumentParser

struct SuppressedConfirmCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "confirm",
        abstract: "Confirms suppressions that wait.",
        discussion: """
            When more than suppression.hold_share percent of the last 1,000 answers are
            bad tokens, the farm continues, and new bad tokens are not suppressed until
            they are confirmed, or until fewer are bad. After a confirmation, what is
            found until fewer are bad is suppressed at once.

            Example:
              pushfarm suppressed confirm --app demo --dry-run
              pushfarm suppressed confirm --app demo
            """)

    @OptionGroup var options: UnconfirmedOptions

    func run() throws { try options.perform(.confirm, done: "applied") }
}
