import ArgumentParser

struct SuppressedDiscardCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "discard",
        abstract: "Deletes suppressions that wait to be confirmed.",
        discussion: """
            These tokens were found bad while more than suppression.hold_share percent
            of the last 1,000 answers were. Pushes to them go out as before; those that
            are found from now on wait as before.

            Example:
              pushfarm suppressed discard --app demo --dry-run
              pushfarm suppressed discard --app demo
            """)

    @OptionGroup var options: UnconfirmedOptions

    func run() throws { try options.perform(.discard, done: "dropped") }
}
