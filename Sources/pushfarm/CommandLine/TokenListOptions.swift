import ArgumentParser

/// Device tokens on the command line or in a file.
struct TokenListOptions: ParsableArguments, Sendable {
    @Option(
        name: .customLong("token"), parsing: .upToNextOption,
        help: ArgumentHelp("Device tokens, as hex.", valueName: "hex"))
    var tokens: [String] = []

    @Option(
        help: ArgumentHelp(
            "A file with one token on each line, or \"-\" for standard input.", valueName: "file"))
    var tokensFile: String?

    /// Whether the command line has neither option.
    var isEmpty: Bool { tokens.isEmpty && tokensFile == nil }
}
