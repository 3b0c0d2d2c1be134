import PushModel
import Registry

/// The columns of a CSV file of devices. A column is named like the field of a device input.
struct DeviceColumns: FileColumns {
    let csv: CSVHeader

    /// Fields whose cells are lists of words.
    private static let lists: Set = ["tags", "add_tags", "remove_tags"]
    /// Fields whose cells are times in Unix seconds.
    private static let times: Set = ["registered", "since", "at"]
    /// The fields that a column can have. A cell cannot have several addresses.
    static let possible = DeviceSchema.fields.filter { $0 != "addresses" }

    init(_ csv: CSVHeader) throws(ImportFault) {
        for name in csv.names where !Self.possible.contains(name) {
            let nearest = NearestWord.find(name, among: Self.possible)
            throw ImportFault(
                "there is no column \"\(PlainText.of(name, limit: 64))\"; "
                    + (nearest.map { "did you mean \"\($0)\"?" }
                        ?? "the columns are \(Self.possible.joined(separator: ", "))"))
        }
        guard csv.names.contains("id") || csv.names.contains("forget_user") else {
            throw ImportFault("there is no column \"id\"")
        }
        self.csv = csv
    }

    func write(_ text: String, of name: String, to json: inout JSONText) {
        if Self.lists.contains(name) {
            json.array { json in
                for word in text.split(whereSeparator: { " ,;|".contains($0) }) { json.value(String(word)) }
            }
        } else if name == "remove", ["true", "1", "yes"].contains(text.lowercased()) {
            json.value(true)
        } else if Self.times.contains(name), let seconds = Int64(foreign: text) {
            json.value(seconds)
        } else {
            json.value(text)
        }
    }
}
