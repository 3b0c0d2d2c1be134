import PushModel
import Testing

@testable import Campaigns

struct GreatestPushTests {
    private static let rules = CampaignJob.Rules(
        app: "demo", topic: "com.example.demo", limits: JobLimits(), now: 1_780_000_000)

    /// A payload with a text of some bytes and the placeholder `user`.
    private static func payload(_ bytes: Int) -> String {
        #"{"aps":{"alert":"\#(String(repeating: "a", count: bytes)){{user|you}}"}}"#
    }

    private static func fault(_ fields: String, _ longest: [(String, Int)]? = nil) throws -> String? {
        let campaign = try CampaignTests.parse("{" + fields + #","rate":1}"#)
        return GreatestPush.fault(
            in: campaign, longest: longest?.map { (name: $0.0, bytes: $0.1) } ?? GreatestPush.storedValues,
            rules: rules)
    }

    @Test func `the longest user id counts, and not the default value`() throws {
        // The payload has 20 bytes beside the text and the value. At most 4,096 bytes are allowed.
        #expect(try Self.fault(#""segment":"all","payload":\#(Self.payload(3_820))"#) == nil)
        let fault = try #require(try Self.fault(#""segment":"all","payload":\#(Self.payload(3_821))"#))
        #expect(fault.contains("4096") || fault.contains("4,096"), "\(fault)")
    }

    @Test func `each language and each variant counts`() throws {
        let (short, long) = (Self.payload(10), Self.payload(4_000))
        #expect(
            try Self.fault(#""segment":"all","translations":{"de":\#(long),"default":\#(short)}"#) != nil)
        #expect(
            try Self.fault(#""segment":"all","translations":{"de":\#(short),"default":\#(short)}"#) == nil)
        #expect(
            try Self.fault(
                #""segment":"all","variants":[{"name":"a","payload":\#(short)},{"name":"b","payload":\#(long)}]"#
            ) != nil)
    }

    @Test func `the longest value of a list's column counts`() throws {
        let fields = #""list":"l","payload":\#(Self.payload(1_000))"#
        #expect(try Self.fault(fields, [("user", 3_000)]) == nil)
        #expect(try Self.fault(fields, [("user", 3_100)]) != nil)
        // An older list does not know its longest values.
        #expect(try Self.fault(fields, [("user", 0)]) == nil)
    }
}
