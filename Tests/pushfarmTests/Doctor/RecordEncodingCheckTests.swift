import Testing

@testable import pushfarm

struct RecordEncodingCheckTests {
    @Test func `an app without stored devices has no finding`() {
        #expect(RecordEncodingCheck.finding([], of: "shop") == nil)
    }

    @Test func `hash tables are a warning with the setting that avoids them`() throws {
        let finding = try #require(
            RecordEncodingCheck.finding(["listpack", "hashtable", "hashtable"], of: "shop"))
        #expect(finding.grade == .warning && finding.text.contains("2 of 3 hashes"))
        #expect(finding.advice?.contains("hash-max-listpack-value 1024") == true)
    }

    @Test func `small encodings are fine`() throws {
        let finding = try #require(RecordEncodingCheck.finding(["listpack"], of: "shop"))
        #expect(finding.grade == .ok && finding.advice == nil)
    }
}
