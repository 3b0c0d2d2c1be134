import PushModel
import RandomTesting
import Testing

@Suite struct CSVRecordTests {
    private func read(_ text: String, from start: Int = 0, isAtEnd: Bool = true) throws(CSVRecord.Fault)
        -> CSVRecord
    {
        try Array(text.utf8).withUnsafeBufferPointer { (bytes) throws(CSVRecord.Fault) in
            try CSVRecord(
                UnsafeRawBufferPointer(bytes), from: start, separator: UInt8(ascii: ","), isAtEnd: isAtEnd)
        }
    }

    @Test(arguments: [
        ("a,b\nc", ["a", "b"], 4), ("a,b\r\nc", ["a", "b"], 5), ("a,b", ["a", "b"], 3), ("\n", [""], 1),
        (",\n", ["", ""], 2), ("", [""], 0), ("\"a,b\",c\n", ["a,b", "c"], 8),
        ("\"a\nb\"\r\nc", ["a\nb"], 7), ("\"say \"\"hi\"\"\",\"\"\n", ["say \"hi\"", ""], 16),
        ("a b , c\n", ["a b ", " c"], 8), ("ä,é", ["ä", "é"], 5), ("a\r,b\n", ["a\r", "b"], 5),
        ("\"a\r\n\"\n", ["a\r\n"], 6),
    ])
    func `a record has these cells`(text: String, cells: [String], end: Int) throws {
        let record = try read(text)
        #expect(record.cells == cells.map { Array($0.utf8) } && record.end == end)
    }

    @Test(arguments: [
        ("\"a", CSVRecord.Fault.incomplete), ("\"a\"\"", .incomplete), ("a\"b", .quoteInPlainCell),
        ("\"a\"b", .textAfterQuote), ("\"a\" ,b", .textAfterQuote), ("\"a\"\r,b", .textAfterQuote),
    ])
    func `these bytes are not a record`(text: String, fault: CSVRecord.Fault) {
        #expect(throws: fault) { try read(text) }
    }

    @Test func `a record without a line end is complete only at the end of the input`() throws {
        #expect(throws: CSVRecord.Fault.incomplete) { try read("a,b", isAtEnd: false) }
        #expect(throws: CSVRecord.Fault.incomplete) { try read("\"a\"", isAtEnd: false) }
        #expect(try read("x\na,b", from: 2).cells.count == 2)
    }

    @Test func `records that were written are read unchanged`() throws {
        var random = SplitMix(seed: 4711)
        let letters = Array("ab,\"\r\n;".utf8)
        for _ in 0..<2000 {
            let cells = (0..<Int(random.next() % 4) + 1).map { _ in
                (0..<Int(random.next() % 5)).map { _ in letters[Int(random.next() % UInt64(letters.count))] }
            }
            let text =
                cells.map { cell in
                    "\"" + String(decoding: cell, as: UTF8.self).replacing("\"", with: "\"\"") + "\""
                }.joined(separator: ",") + "\r\n"
            #expect(try read(text + "rest", isAtEnd: false) == CSVRecord(cells: cells, end: text.utf8.count))
        }
    }

    @Test func `no bytes trap, and a record never ends beyond the bytes`() {
        var random = SplitMix(seed: 12)
        let letters = Array("a,\"\r\n".utf8)
        for _ in 0..<20_000 {
            let bytes = (0..<Int(random.next() % 12)).map { _ in letters[Int(random.next() % 5)] }
            let text = String(decoding: bytes, as: UTF8.self)
            guard let record = try? read(text, isAtEnd: random.next() % 2 == 0) else { continue }
            #expect(record.end <= bytes.count && (record.end > 0 || bytes.isEmpty))
        }
    }
}
