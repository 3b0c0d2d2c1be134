import PushModel

/// The first line of a CSV file, which names the columns.
struct CSVHeader {
    /// The bytes without the line end.
    let bytes: [UInt8]
    let names: [String]
    private let separator: UInt8

    /// Reads the names of the columns. The separator is the first comma, semicolon or tab.
    init(_ bytes: [UInt8]) throws(ImportFault) {
        self.bytes = bytes
        separator = bytes.first { ",;\t".utf8.contains($0) } ?? UInt8(ascii: ",")
        let cells: [[UInt8]]
        switch Self.read(bytes, from: 0, separator: separator, isAtEnd: true) {
        case .success(let record): cells = record.cells
        case .failure(let fault): throw ImportFault(fault.description)
        }
        var names: [String] = []
        for cell in cells {
            let name = String(String(decoding: cell, as: UTF8.self)[...].trimmed)
            guard !names.contains(name) else {
                throw ImportFault("two columns are named \"\(PlainText.of(name, limit: 64))\"")
            }
            names.append(name)
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
}

/// The columns of a CSV file, whose records become JSON objects.
protocol FileColumns {
    var csv: CSVHeader { get }

    /// Writes the value of a cell that is not empty.
    func write(_ text: String, of name: String, to json: inout JSONText)
}

extension FileColumns {
    /// The JSON object of a record. Empty cells are left out.
    func input(of record: CSVRecord) -> Result<[UInt8], ImportFault> {
        let (names, cells) = (csv.names, record.cells)
        guard cells.count == names.count else {
            return .failure(
                ImportFault("the record has \(cells.count) cells; the header has \(names.count)"))
        }
        for (name, cell) in zip(names, cells) where !cell.withUnsafeBytes({ UTF8Text.isValid($0) }) {
            return .failure(ImportFault("the cell is not valid UTF-8", field: name))
        }
        var json = JSONText(capacity: 256)
        json.object { json in
            for (name, cell) in zip(names, cells) where !cell.isEmpty {
                json.key(name)
                write(String(decoding: cell, as: UTF8.self), of: name, to: &json)
            }
        }
        return .success(json.bytes)
    }
}
