import Campaigns
import PushModel
import Testing

struct ListRowParserTests {
    private static let token = "00FF00FF00FF00FF"

    private func parse(_ json: String) throws(ListRowError) -> ParsedListRow {
        let parser = ListRowParser(
            ListRowParser.Columns(), zoneFault: { $0 == "Europe/Berlin" ? nil : "no zone \($0)" })
        return try parser.parse(Array(json.utf8))
    }

    @Test func `a row becomes a push with all other members as values`() throws {
        let row = try parse(
            #"""
            {"name":"Ada \"A\"","token":"\#(Self.token)","zone":"Europe/Berlin","n": 7,"none":null,
             "values":{"ok":true},"lang":"de"}
            """#)
        #expect(row.token == [0, 255, 0, 255, 0, 255, 0, 255])
        #expect(row.zone == "Europe/Berlin" && row.row.lang == "de" && row.names == ["name", "n", "ok"])
        #expect(
            String(decoding: row.row.push, as: UTF8.self)
                == #"{"token":"00ff00ff00ff00ff","values":{"name":"Ada \"A\"","n":7,"ok":true}}"#)
    }

    @Test func `the columns can have other names`() throws {
        let columns = ListRowParser.Columns(token: "apns", lang: "locale", zone: "tz")
        let row = try ListRowParser(columns, zoneFault: { _ in nil }).parse(
            Array(#"{"apns":"\#(Self.token)","locale":"ja","tz":"X","token":"t","lang":"l"}"#.utf8))
        #expect(row.zone == "X" && row.row.lang == "ja" && row.names == ["token", "lang"])
    }

    static let faults: [(json: String, field: String, reason: String)] = [
        ("[]", "", "must be a JSON object such as {\"token\": \"…\"}"),
        ("{\"token\":", "", "is not valid JSON: "),
        ("{}", "token", "the token is missing"),
        ("{\"token\":5}", "token", "must be a string"),
        ("{\"token\":\"0g0g0g0g0g0g0g0g\"}", "token", ""),
        ("{\"token\":\"00\"}", "token", ""),
        ("{T,\"token\":\"\"}", "token", "is given twice"),
        ("{T,\"lang\":\"de de\"}", "lang", "must be a language such as \"de\" or \"pt-BR\""),
        ("{T,\"zone\":\"Mars\"}", "zone", "no zone Mars"),
        ("{T,\"a\":{}}", "a", "must be a string, a number, true or false"),
        ("{T,\"values\":[1]}", "values", "must be a string, a number, true or false"),
        ("{T,\"a\":1,\"values\":{\"a\":2}}", "a", "is given twice"),
        ("{T,\"values\":{\"v\":[]}}", "v", "must be a string, a number, true or false"),
        ("{T,\"a\":\"\(String(repeating: "x", count: 9_000))\"}", "", "the row has 90"),
        (
            "{T,\((0...64).map { "\"c\($0)\":1" }.joined(separator: ","))}", "", "has more than 64 values"
        ),
    ]

    @Test(arguments: faults) func `a row that is not valid is refused with its column`(
        json: String, field: String, reason: String
    ) {
        let json = json.replacing("T", with: "\"token\":\"\(Self.token)\"")
        let error = #expect(throws: ListRowError.self) { try parse(json) }
        #expect(error?.field == field)
        #expect(error?.reason.hasPrefix(reason) == true, "\(error?.reason ?? "")")
    }
}
