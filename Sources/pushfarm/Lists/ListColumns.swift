import Campaigns
import PushModel

/// The columns of a CSV file with the rows of an uploaded list. All columns may have any name.
struct ListColumns: FileColumns {
    let csv: CSVHeader

    /// - Parameter required: the names of columns that the file must have.
    init(_ csv: CSVHeader, required: [String]) throws(ImportFault) {
        for name in required where !csv.names.contains(name) {
            throw ImportFault(
                "there is no column \"\(PlainText.of(name, limit: 64))\""
                    + UnknownName.advice(name, among: csv.names.map { PlainText.of($0, limit: 64) }))
        }
        self.csv = csv
    }

    func write(_ text: String, of name: String, to json: inout JSONText) { json.value(text) }
}
