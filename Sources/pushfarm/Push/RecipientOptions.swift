import ArgumentParser

/// The recipients of a job: tokens, users or devices.
struct RecipientOptions: ParsableArguments, Sendable {
    @Option(
        name: .customLong("token"), parsing: .upToNextOption,
        help: ArgumentHelp("Device tokens, as hex.", valueName: "hex"))
    var tokens: [String] = []

    @Option(
        help: ArgumentHelp(
            "A file with one token on each line, or \"-\" for standard input.", valueName: "file"))
    var tokensFile: String?

    @Option(
        name: .customLong("user"), parsing: .upToNextOption,
        help: ArgumentHelp("Ids of users whose stored devices get the push.", valueName: "id"))
    var users: [String] = []

    @Option(
        name: .customLong("device"), parsing: .upToNextOption,
        help: ArgumentHelp("Ids of stored devices.", valueName: "id"))
    var devices: [String] = []

    func validate() throws {
        let kinds = [!tokens.isEmpty || tokensFile != nil, !users.isEmpty, !devices.isEmpty]
        guard kinds.count(where: { $0 }) == 1 else {
            throw ValidationError(
                "Give recipients of one kind: --token or --tokens-file, --user, or --device.")
        }
    }

    /// What the recipients are.
    var kind: JobDraft.Recipients { users.isEmpty ? devices.isEmpty ? .tokens : .devices : .users }

    /// The tokens of the command line and of the file, or the ids of users or devices.
    func all() throws(CommandFailure) -> [Substring] {
        var all = (tokens + users + devices).map { $0[...] }
        if let tokensFile {
            let lines = try TextFile.read(tokensFile).split(whereSeparator: \.isNewline)
            all += lines.map(\.trimmed).filter { !$0.isEmpty }
        }
        guard !all.isEmpty else {
            throw .usage("there is no token in \(tokensFile ?? "the command line")")
        }
        return all
    }
}
