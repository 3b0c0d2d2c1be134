import ArgumentParser
import Campaigns

/// The options of commands that upload a list from a file.
struct ListFileOptions: ParsableArguments, Sendable {
    @Option(
        help: ArgumentHelp(
            "The format: csv or ndjson. Default: the format that the file's ending names: .csv, .ndjson, .jsonl or .json.",
            valueName: "format"))
    var format: String?

    @Option(help: ArgumentHelp("The column of the token. Default: token.", valueName: "name"))
    var tokenColumn: String?

    @Option(help: ArgumentHelp("The column of the language. Default: lang.", valueName: "name"))
    var langColumn: String?

    @Option(help: ArgumentHelp("The column of the time zone. Default: zone.", valueName: "name"))
    var zoneColumn: String?

    @Option(help: ArgumentHelp("The file for refused rows. Default: FILE.refused.", valueName: "file"))
    var refused: String?

    func validate() throws {
        guard Set([columns.token, columns.lang, columns.zone]).count == 3 else {
            throw ValidationError("Two options name the same column.")
        }
        guard let format, ImportFormat(rawValue: format) == nil else { return }
        throw ValidationError("--format must be csv or ndjson.")
    }

    /// Whether the command line has none of the options.
    var isEmpty: Bool { [format, tokenColumn, langColumn, zoneColumn, refused].allSatisfy { $0 == nil } }

    var columns: ListRowParser.Columns {
        ListRowParser.Columns(
            token: tokenColumn ?? "token", lang: langColumn ?? "lang", zone: zoneColumn ?? "zone")
    }

    /// The columns that a CSV file must have.
    var requiredColumns: [String] { [columns.token] + [langColumn, zoneColumn].compactMap(\.self) }
}
