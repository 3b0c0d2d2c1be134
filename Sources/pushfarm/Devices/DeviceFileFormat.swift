/// The format of a file of devices.
enum DeviceFileFormat: String, CaseIterable, Sendable {
    case ndjson, csv

    /// The format that the file's name ends with; nil for another ending.
    init?(ending path: String) {
        switch path.split(separator: ".").last?.lowercased() {
        case "csv": self = .csv
        case "ndjson", "jsonl", "json": self = .ndjson
        default: return nil
        }
    }
}
