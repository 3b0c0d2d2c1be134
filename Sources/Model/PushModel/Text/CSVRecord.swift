/// One record of comma-separated values.
///
/// The caller chooses the byte that separates cells. Each record ends with CR LF or LF. A cell in quotation marks may contain
/// separators and line ends. Two quotation marks inside such a cell stand for one quotation mark.
/// - Source: RFC 4180, section 2.
package struct CSVRecord: Equatable, Sendable {
    /// The bytes of each cell, without the quotation marks around it.
    package let cells: [[UInt8]]
    /// The offset of the first byte after the record and its line end.
    package let end: Int

    package init(cells: [[UInt8]], end: Int) { (self.cells, self.end) = (cells, end) }

    /// Why a record cannot be read from the bytes.
    package enum Fault: Error, Hashable, Sendable, CustomStringConvertible {
        /// The bytes end before the record is complete. The caller may read more bytes and try again.
        case incomplete
        /// A cell that does not begin with a quotation mark contains a quotation mark.
        case quoteInPlainCell
        /// The byte after a cell's closing quotation mark is neither a separator nor the start of a line end.
        case textAfterQuote

        package var description: String {
            switch self {
            case .incomplete: "a quotation mark is not closed"
            case .quoteInPlainCell:
                "a cell with a quotation mark must begin and end with one; write \"\" inside"
            case .textAfterQuote: "text follows the closing quotation mark of a cell"
            }
        }
    }

    /// Reads the record that starts at `start`.
    ///
    /// - Parameters:
    ///   - isAtEnd: true if `bytes` includes the last byte of the input. The last record then needs no line end.
    package init(
        _ bytes: UnsafeRawBufferPointer, from start: Int, separator: UInt8, isAtEnd: Bool
    ) throws(Fault) {
        var cells: [[UInt8]] = []
        var offset = start
        while true {
            let cell = try Self.cell(bytes, &offset, separator: separator)
            cells.append(cell)
            guard offset < bytes.count else {
                guard isAtEnd else { throw .incomplete }
                break
            }
            let next = bytes[offset]
            offset += 1
            if next == UInt8(ascii: "\n") { break }
        }
        (self.cells, end) = (cells, offset)
    }

    /// Reads a cell, and moves `offset` to the separator or LF after the cell, or to the end of the bytes.
    private static func cell(
        _ bytes: UnsafeRawBufferPointer, _ offset: inout Int, separator: UInt8
    ) throws(Fault) -> [UInt8] {
        guard offset < bytes.count, bytes[offset] == quote else {
            let start = offset
            while offset < bytes.count, bytes[offset] != separator, bytes[offset] != UInt8(ascii: "\n") {
                guard bytes[offset] != quote else { throw .quoteInPlainCell }
                offset += 1
            }
            var end = offset
            if end > start, bytes[end - 1] == UInt8(ascii: "\r"), !isSeparator(bytes, end, separator) {
                end -= 1
            }
            return Array(bytes[start..<end])
        }
        offset += 1
        var cell: [UInt8] = []
        while true {
            guard offset < bytes.count else { throw .incomplete }
            let byte = bytes[offset]
            offset += 1
            if byte != quote {
                cell.append(byte)
            } else if offset < bytes.count, bytes[offset] == quote {
                cell.append(quote)
                offset += 1
            } else {
                break
            }
        }
        if offset < bytes.count, bytes[offset] == UInt8(ascii: "\r") { offset += 1 }
        guard
            offset == bytes.count || bytes[offset] == UInt8(ascii: "\n")
                || bytes[offset] == separator && bytes[offset - 1] == quote
        else { throw .textAfterQuote }
        return cell
    }

    private static func isSeparator(_ bytes: UnsafeRawBufferPointer, _ offset: Int, _ separator: UInt8)
        -> Bool
    {
        offset < bytes.count && bytes[offset] == separator
    }

    private static let quote = UInt8(ascii: "\"")
}
