import PushModel
import Registry

/// The format of a file of devices.
enum ImportFormat: String, CaseIterable, Sendable {
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

/// The records of a file of devices, which is read in parts: lines of JSON, or records of CSV.
struct ImportRecords: ~Copyable {
    struct Record {
        /// The number of the record's first line, from 1.
        let line: Int
        /// The bytes of the record without the line end. They are cut if the record is longer than ``longest``.
        let raw: [UInt8]
        /// The JSON of the record, such as a device input, or the fault of the record.
        let input: Result<[UInt8], ImportFault>
    }

    /// The result of a search for the next record in the buffer.
    private enum Found {
        /// - Parameter end: the index after the record's line end.
        case record(end: Int, Result<[UInt8], ImportFault>)
        /// A line that is too long, and that continues after the end of the buffer.
        case longLine
        case incomplete
        case end
    }

    /// The largest size of a record in bytes. A larger record is refused.
    static let longest = 2 * DeviceInputRules.mostBytes

    private let file: InputFile
    private var columns: (any FileColumns)?
    private var buffer: [UInt8] = []
    /// The index of the next record in `buffer`.
    private var start = 0
    private var isAtEnd = false
    private var isInLongLine = false
    /// The offset of the next record in the file.
    private(set) var offset = 0
    /// The number of lines before the next record.
    private(set) var lines = 0

    private init(_ file: consuming InputFile) { self.file = file }

    /// Creates the columns that a CSV file with this header has.
    typealias ColumnReader = (CSVHeader) throws(ImportFault) -> any FileColumns

    /// Opens a file of device inputs, and reads the header of CSV.
    static func open(_ path: String, format: ImportFormat) throws(CommandFailure) -> ImportRecords {
        try open(path, format: format) { header throws(ImportFault) in try DeviceColumns(header) }
    }

    /// Opens a file with other columns than those of device inputs, and reads the header of CSV.
    static func open(
        _ path: String, format: ImportFormat, columns: ColumnReader
    ) throws(CommandFailure) -> ImportRecords {
        var records = ImportRecords(try InputFile(path))
        try records.readStart(format, columns)
        return records
    }

    private mutating func readStart(
        _ format: ImportFormat, _ reader: ColumnReader
    ) throws(CommandFailure) {
        while buffer.count < 3, !isAtEnd { try readMore() }
        if buffer.starts(with: [0xEF, 0xBB, 0xBF]) { (start, offset) = (3, 3) }
        guard format == .csv else { return }
        guard let header = try nextRecord() else {
            throw .usage(
                "\(file.path): is empty; the first line of a CSV file must have the names of the columns")
        }
        do throws(ImportFault) { columns = try reader(CSVHeader(header.raw)) } catch {
            throw .usage("\(file.path), line 1: \(error.reason)")
        }
    }

    /// The size of the file in bytes; nil when the size is unknown.
    var byteCount: Int? { file.byteCount }

    /// The header of CSV; nil for another format.
    var header: [UInt8]? { columns?.csv.bytes }

    /// Continues at an offset of the file.
    ///
    /// - Parameter lines: the number of lines before the offset.
    mutating func seek(to offset: Int, lines: Int) throws(CommandFailure) {
        try file.seek(to: offset)
        (buffer, start, isAtEnd, isInLongLine) = ([], 0, false, false)
        (self.offset, self.lines) = (offset, lines)
    }

    /// The next record; nil after the last record. This function skips empty lines, and the remarks in a file of
    /// refused records.
    mutating func next() throws(CommandFailure) -> Record? {
        while let record = try nextRecord() {
            let isEmpty = record.raw.allSatisfy { $0 == 0x20 || $0 == 0x09 || $0 == 0x0D || $0 == 0x0A }
            if !isEmpty, !record.raw.starts(with: ImportRefusals.remark) { return record }
        }
        return nil
    }

    private mutating func nextRecord() throws(CommandFailure) -> Record? {
        while true {
            if isInLongLine { try skipLine() }
            switch find() {
            case .record(let end, let input): return take(end, input)
            case .longLine:
                isInLongLine = true
                let reason = "the line is longer than \(Self.longest) bytes"
                return take(buffer.count, .failure(ImportFault(reason)))
            case .incomplete: try readMore()
            case .end: return nil
            }
        }
    }

    private func find() -> Found {
        guard start < buffer.count else { return isAtEnd ? .end : .incomplete }
        let isLong = buffer.count - start > Self.longest
        if let columns {
            switch columns.csv.read(buffer, from: start, isAtEnd: isAtEnd) {
            case .success(let record): return .record(end: record.end, columns.input(of: record))
            case .failure(.incomplete) where !isAtEnd && !isLong: return .incomplete
            case .failure(let fault):
                // Reading continues at the next line, even if the fault is a quotation mark that is not closed.
                guard let end = lineEnd ?? (isAtEnd ? buffer.count : nil) else {
                    return isLong ? .longLine : .incomplete
                }
                return .record(end: end, .failure(ImportFault(fault.description)))
            }
        }
        if let end = lineEnd { return .record(end: end, .success(line(start..<end))) }
        if isAtEnd { return .record(end: buffer.count, .success(line(start..<buffer.count))) }
        return isLong ? .longLine : .incomplete
    }

    /// The index after the next LF; nil if the buffer has none.
    private var lineEnd: Int? { buffer[start...].firstIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } }

    /// The bytes of a record without its line end.
    private func line(_ range: Range<Int>) -> [UInt8] {
        var bytes = buffer[range]
        if bytes.last == UInt8(ascii: "\n") { bytes.removeLast() }
        if bytes.last == UInt8(ascii: "\r") { bytes.removeLast() }
        return Array(bytes)
    }

    private mutating func take(_ end: Int, _ input: Result<[UInt8], ImportFault>) -> Record {
        let record = Record(line: lines + 1, raw: line(start..<end), input: input)
        advance(to: end)
        return record
    }

    private mutating func advance(to end: Int) {
        lines += buffer[start..<end].count { $0 == UInt8(ascii: "\n") }
        offset += end - start
        start = end
    }

    /// Moves to the end of a line whose first part was refused.
    private mutating func skipLine() throws(CommandFailure) {
        while lineEnd == nil, !isAtEnd {
            advance(to: buffer.count)
            try readMore()
        }
        advance(to: lineEnd ?? buffer.count)
        isInLongLine = false
    }

    private mutating func readMore() throws(CommandFailure) {
        buffer.removeFirst(start)
        start = 0
        isAtEnd = try file.read(into: &buffer) == 0
    }
}

/// Why a record of a file of devices is not a valid device input.
struct ImportFault: Error, Hashable, Sendable {
    /// The column or field with the fault; empty if the record as a whole is wrong.
    var field = ""
    let reason: String

    init(_ reason: String, field: String = "") { (self.field, self.reason) = (field, reason) }
}
