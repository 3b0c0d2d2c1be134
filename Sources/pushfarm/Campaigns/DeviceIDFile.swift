import Campaigns
import PushModel
import Registry

/// A file with ids of devices: one id on each line, or in a field of NDJSON, or in a column of CSV.
struct DeviceIDFile: Sendable {
    enum Format: String, CaseIterable, Sendable {
        case ids, ndjson, csv
    }

    /// `-` means standard input.
    let path: String
    private let format: Format
    /// The field or column with the id.
    private let column: String

    /// Checks that the file can be read, and that a CSV file has the column.
    ///
    /// - Parameter format: the name of a format; nil for the format that the file's ending names, or else one id on each line.
    init(_ path: String, format: String?, column: String) throws(CommandFailure) {
        try TextFile.check(readable: path)
        let named = format.flatMap(Format.init(rawValue:))
        let ending: Format =
            switch ImportFormat(ending: path) {
            case .csv: .csv
            case .ndjson: .ndjson
            case nil: .ids
            }
        (self.path, self.format, self.column) = (path, named ?? ending, column)
        if path != "-" { _ = try records() }
    }

    func records() throws(CommandFailure) -> ImportRecords {
        let column = column
        return try ImportRecords.open(path, format: format == .csv ? .csv : .ndjson) {
            header throws(ImportFault) in
            try ListColumns(header, required: [column])
        }
    }

    /// The id in a record.
    func id(of record: ImportRecords.Record) throws(ImportFault) -> String {
        let bytes = try record.input.get()
        let id: String
        if format == .ids {
            guard let text = String(validating: bytes, as: UTF8.self) else {
                throw ImportFault("the line is not valid UTF-8")
            }
            id = String(text[...].trimmed)
        } else {
            do throws(DoneRow.Fault) { id = try DoneRow.id(ofJSON: bytes, field: column) } catch {
                throw ImportFault(error.reason)
            }
        }
        guard DeviceLimits.idBytes.contains(id.utf8.count),
            !id.unicodeScalars.contains(where: UTF8Text.isControl)
        else {
            throw ImportFault(
                "the id of a device has 1 to \(DeviceLimits.idBytes.upperBound) bytes and no control characters"
            )
        }
        return id
    }
}
