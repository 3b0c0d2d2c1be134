import PushModel
import Registry

/// The columns of a CSV file of devices. A column is named like the field of a device input.
struct DeviceColumns {
    /// The header's bytes without the line end.
    let header: [UInt8]
    private let names: [String]
    private let separator: UInt8

    /// Fields whose cells are lists of words.
    private static let lists: Set = ["tags", "add_tags", "remove_tags"]
    /// Fields whose cells are times in Unix seconds.
    private static let times: Set = ["registered", "since", "at"]
    /// The fields that a column can have. A cell cannot have several addresses.
    static let possible = DeviceSchema.fields.filter { $0 != "addresses" }

    /// Reads the names of the columns. The separator is the first comma, semicolon or tab.
    init(header: [UInt8]) throws(DeviceFileFault) {
        self.header = header
        separator = header.first { ",;\t".utf8.contains($0) } ?? UInt8(ascii: ",")
        let cells: [[UInt8]]
        switch Self.read(header, from: 0, separator: separator, isAtEnd: true) {
        case .success(let record): cells = record.cells
        case .failure(let fault): throw DeviceFileFault(fault.description)
        }
        var names: [String] = []
        for cell in cells {
            let name = String(String(decoding: cell, as: UTF8.self)[...].trimmed)
            guard Self.possible.contains(name) else {
                let nearest = NearestWord.find(name, among: Self.possible)
                throw DeviceFileFault(
                    "there is no column \"\(PlainText.of(name, limit: 64))\"; "
                        + (nearest.map { "did you mean \"\($0)\"?" }
                            ?? "the columns are \(Self.possible.joined(separator: ", "))"))
            }
            guard !names.contains(name) else { throw DeviceFileFault("two columns are named \"\(name)\"") }
            names.append(name)
        }
        guard names.contains("id") || names.contains("forget_user") else {
            throw DeviceFileFault("there is no column \"id\"")
        }
        self.names = names
    }

    /// Reads the record that starts at an index of the buffer.
    func read(_ buffer: [UInt8], from start: Int, isAtEnd: Bool) -> Result<CSVRecord, CSVRecord.Fault> {
        Self.read(buffer, from: start, separator: separator, isAtEnd: isAtEnd)
    }

    private static func read(
        _ buffer: [UInt8], from start: Int, separator: UInt8, isAtEnd: Bool
    ) -> Result<CSVRecord, CSVRecord.Fault> {
        buffer.withUnsafeBytes { bytes in
            Result { () throws(CSVRecord.Fault) in
                try CSVRecord(bytes, from: start, separator: separator, isAtEnd: isAtEnd)
            }
        }
    }

    /// The JSON of the device input of a record. Empty cells are left out.
    func input(of record: CSVRecord) -> Result<[UInt8], DeviceFileFault> {
        let cells = record.cells
        guard cells.count == names.count else {
            return .failure(
                DeviceFileFault("the record has \(cells.count) cells; the header has \(names.count)"))
        }
        for (name, cell) in zip(names, cells) where !cell.withUnsafeBytes({ UTF8Text.isValid($0) }) {
            return .failure(DeviceFileFault("the cell is not valid UTF-8", field: name))
        }
        var json = JSONText(capacity: 256)
        json.object { json in
            for (name, cell) in zip(names, cells) where !cell.isEmpty {
                Self.add(cell, named: name, to: &json)
            }
        }
        return .success(json.bytes)
    }

    private static func add(_ cell: [UInt8], named name: String, to json: inout JSONText) {
        let text = String(decoding: cell, as: UTF8.self)
        json.key(name)
        if lists.contains(name) {
            json.array { json in
                for word in text.split(whereSeparator: { " ,;|".contains($0) }) { json.value(String(word)) }
            }
        } else if name == "remove", ["true", "1", "yes"].contains(text.lowercased()) {
            json.value(true)
        } else if times.contains(name), let seconds = Int64(foreign: text) {
            json.value(seconds)
        } else {
            json.value(text)
        }
    }
}
