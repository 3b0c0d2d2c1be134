import Campaigns
import Testing

/// Inputs of the lists `campaigns` and `done`.
struct CampaignInputTests {
    @Test(arguments: [
        (#"{"changed":"ed-1"}"#, CampaignInput.changed(id: "ed-1")), (#"{"changed":1}"#, .definition),
        (#"{"changed":"a","id":"b"}"#, .definition), ("{}", .definition), ("nonsense", .definition),
        ("", .definition),
    ])
    func `a notice has only the id of a campaign`(text: String, input: CampaignInput) {
        #expect(CampaignInput(Array(text.utf8)) == input)
    }

    @Test func `reads a report of done devices`() throws {
        let report = try DoneReport(Array(#" {"devices":["d-1","ü"],"campaign":"ed-1"} "#.utf8))
        #expect(report == DoneReport(campaign: "ed-1", devices: ["d-1", "ü"]))
        #expect(try DoneReport(Array(#"{"campaign":"c","devices":[]}"#.utf8)).devices.isEmpty)
    }

    @Test(arguments: [
        ("x", "report", 0), (#"{"campaign":"c"}"#, "devices", 0), (#"{"devices":[]}"#, "campaign", 0),
        (#"{"campaign":"","devices":[]}"#, "campaign", 12),
        (#"{"campaign":"c","devices":"d"}"#, "devices", 26),
        (#"{"campaign":"c","devices":["d",7]}"#, "devices[1]", 31),
        (#"{"campaign":"c","devices":[""]}"#, "devices[0]", 27), (#"{"campaigns":"c"}"#, "campaigns", 1),
    ])
    func `a bad report is refused with field and position`(text: String, field: String, position: Int) {
        do throws(CampaignError) {
            _ = try DoneReport(Array(text.utf8))
            Issue.record("accepted")
        } catch {
            #expect(error.field == field && error.position == position, "\(error)")
        }
    }

    @Test func `a report has a limited number of devices`() {
        let ids = Array(repeating: "\"d\"", count: DoneReport.mostDevices + 1).joined(separator: ",")
        #expect(throws: CampaignError.self) {
            try DoneReport(Array("{\"campaign\":\"c\",\"devices\":[\(ids)]}".utf8))
        }
    }
}
