import Campaigns
import Testing

struct RewardReportTests {
    @Test(arguments: [("1", 1000), ("0", 0), ("0.25", 250), ("1e0", 1000)])
    func `a reward is a number from 0 to 1`(reward: String, thousandths: Int64) throws {
        let report = try RewardReport(
            Array(#"{"campaign":"c","device":"d-1","reward":\#(reward)}"#.utf8))
        #expect(report.campaign == "c" && report.device == "d-1" && report.thousandths == thousandths)
    }

    /// A text, and the field of its fault.
    private static let wrong = [
        ("x", "reward"), ("[]", "reward"), (#"{"device":"d","reward":1}"#, "campaign"),
        (#"{"campaign":"c","reward":1}"#, "device"), (#"{"campaign":"c","device":"","reward":1}"#, "device"),
        (#"{"campaign":"c","device":"d"}"#, "reward"),
        (#"{"campaign":"c","device":"d","reward":1.5}"#, "reward"),
        (#"{"campaign":"c","device":"d","reward":-1}"#, "reward"),
        (#"{"campaign":"c","device":"d","reward":"1"}"#, "reward"),
        (#"{"campaign":"c","device":"d","rewards":1}"#, "rewards"),
        (#"{"campaign":7,"device":"d","reward":1}"#, "campaign"),
    ]

    @Test(arguments: wrong) func `a faulty reward is refused with its field`(text: String, field: String) {
        let error = #expect(throws: CampaignError.self) { try RewardReport(Array(text.utf8)) }
        #expect(error?.field == field)
    }
}
