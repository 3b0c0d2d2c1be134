import FarmHarness
import Testing

@testable import pushfarm

/// Reads files of devices.
struct ImportRecordsTests {
    private let folder: TestFolder

    init() throws { folder = try TestFolder() }

    /// Reads all records of a text. Returns `line: JSON` for each valid record and `line! field: reason` for each other record.
    private func read(_ text: String, _ format: ImportFormat) throws -> [String] {
        var records = try ImportRecords.open(try folder.write(text, to: "f"), format: format)
        var found: [String] = []
        while let record = try records.next() {
            switch record.input {
            case .success(let json): found.append("\(record.line): \(String(decoding: json, as: UTF8.self))")
            case .failure(let fault): found.append("\(record.line)! \(fault.field): \(fault.reason)")
            }
        }
        #expect(records.offset == text.utf8.count)
        return found
    }

    @Test func `each line of NDJSON is a record, unchanged`() throws {
        let text = "\u{FEFF}{\"id\" : \"a\"}\r\n\n  \n# line 3, zone: wrong\nnonsense\n{\"id\":\"b\"}"
        #expect(
            try read(text, .ndjson) == ["1: {\"id\" : \"a\"}", "5: nonsense", "6: {\"id\":\"b\"}"])
    }

    @Test func `a line that is too long is refused, and the next lines are read`() throws {
        let long = String(repeating: "x", count: 3 * ImportRecords.longest)
        let records = try read("a\n\(long)\nb\n", .ndjson)
        #expect(records == ["1: a", "2! : the line is longer than 131072 bytes", "3: b"])
        let header = "id,token\n"
        #expect(
            try read("\(header)a,b\n\"\(long)\nc,d\n", .csv) == [
                "2: {\"id\":\"a\",\"token\":\"b\"}", "3! : the line is longer than 131072 bytes",
                "4: {\"id\":\"c\",\"token\":\"d\"}",
            ])
    }

    @Test func `cells of CSV become fields`() throws {
        let text = """
            id;token; tags ;user;remove
            d-1;00ff;a b,c|d;"say ""hi"";
            you";
            d-2;;;;TRUE

            d-3;x
            """
        #expect(
            try read(text, .csv) == [
                "2: {\"id\":\"d-1\",\"token\":\"00ff\",\"tags\":[\"a\",\"b\",\"c\",\"d\"],"
                    + "\"user\":\"say \\\"hi\\\";\\nyou\"}",
                "4: {\"id\":\"d-2\",\"remove\":true}",
                "6! : the record has 2 cells; the header has 5",
            ])
    }

    @Test func `a quotation mark that is not closed spoils only its line`() throws {
        #expect(
            try read("id,user\ne\"f,g\n\"h\"i,j\n\"a,b\nc,d\n", .csv) == [
                "2! : a cell with a quotation mark must begin and end with one; write \"\" inside",
                "3! : text follows the closing quotation mark of a cell",
                "4! : a quotation mark is not closed", "5: {\"id\":\"c\",\"user\":\"d\"}",
            ])
    }

    @Test func `a cell that is not UTF-8 is refused`() throws {
        let path = try folder.write("", to: "bytes.csv")
        var sink = try TextSink(path)
        try sink.write(bytes: Array("id,user\na,".utf8) + [0xFF, 0x0A])
        try sink.finish()
        var records = try ImportRecords.open(path, format: .csv)
        guard case .failure(let fault)? = try records.next()?.input else { throw CommandFailure.failed() }
        #expect(fault.field == "user" && fault.reason == "the cell is not valid UTF-8")
    }

    @Test(arguments: [
        ("", "is empty; the first line of a CSV file must have the names of the columns"),
        ("id,tokn\n", "line 1: there is no column \"tokn\"; did you mean \"token\"?"),
        ("id,colour\n", "line 1: there is no column \"colour\"; the columns are id, token,"),
        ("id,addresses\n", "line 1: there is no column \"addresses\""),
        ("id,id\n", "line 1: two columns are named \"id\""),
        ("token,user\n", "line 1: there is no column \"id\""),
    ])
    func `a wrong header is an error of usage`(text: String, message: String) throws {
        let error = #expect(throws: CommandFailure.self) { try read(text, .csv) }
        #expect(
            error?.status == .usage && error?.message.contains(message) == true, "\(error?.message ?? "")")
    }

    @Test func `reading continues at an offset`() throws {
        let path = try folder.write("id,user\na,1\nb,2\nc,3\n", to: "f.csv")
        var records = try ImportRecords.open(path, format: .csv)
        _ = try records.next()
        let (offset, lines) = (records.offset, records.lines)
        #expect(offset == 12 && lines == 2)
        var again = try ImportRecords.open(path, format: .csv)
        try again.seek(to: offset, lines: lines)
        let record = try again.next()
        #expect(record?.line == 3 && record?.raw == Array("b,2".utf8))
    }

    @Test(arguments: [("a.csv", ImportFormat.csv), ("a.b.NDJSON", .ndjson), ("x.jsonl", .ndjson)])
    func `the ending tells the format`(path: String, format: ImportFormat) {
        #expect(ImportFormat(ending: path) == format)
        #expect(ImportFormat(ending: "devices.txt") == nil)
    }
}
