import ArgumentParser

/// The recipients of a job: tokens, users or devices.
struct RecipientOptions: ParsableArguments, Sendable {
    @OptionGroup var given: TokenListOptions

    @Option(
        name: .customLong("user"), parsing: .upToNextOption,
        help: ArgumentHelp("Ids of users whose stored devices get the push.", valueName: "id"))
    var users: [String] = []

    @Option(
        name: .customLong("device"), parsing: .upToNextOption,
        help: ArgumentHelp("Ids of stored devices.", valueName: "id"))
    var devices: [String] = []

    func validate() throws {
        let kinds = [!given.isEmpty, !users.isEmpty, !devices.isEmpty]
        guard kinds.count(where: { $0 }) == 1 else {
            throw ValidationError(
                "Give recipients of one kind: --token or --tokens-file, --user, or --device.")
        }
    }

    /// What the recipients are.
    var kind: JobDraft.Recipients { users.isEmpty ? devices.isEmpty ? .tokens : .devices : .users }

    /// The tokens of the command line and of the file, or the ids of users or devices.
    func all() throws(CommandFailure) -> [Substring] {
        var all = (given.tokens + users + devices).map { $0[...] }
        if let tokensFile = given.tokensFile {
            let lines = try TextFile.read(tokensFile).split(whereSeparator: \.isNewline)
            all += lines.map(\.trimmed).filter { !$0.isEmpty }
        }
        guard !all.isEmpty else {
            throw .usage("there is no token in \(given.tokensFile ?? "the command line")")
        }
        return all
    }
}
