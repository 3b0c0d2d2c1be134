import RandomTesting
import Testing

@testable import PushModel

struct PushIDTests {
    /// The expected ids were made with Python's xxhash and uuid modules.
    @Test(arguments: [
        (
            "order-4711", "00fc13adff785122b4ad28809a3420982341241421348097878e577c991de8f0",
            "8775239c-2c12-43a7-8c78-7f4ae8d32446"
        ),
        (
            "order-4711", "deadbeefdeadbeef",
            "61665a69-ec20-475a-8b56-e60000ddf10e"
        ),
        (
            "", "00fc13adff785122b4ad28809a3420982341241421348097878e577c991de8f0",
            "e65d5460-d7a2-409b-b175-2123a27d47f6"
        ),
        (
            "ü-Auftrag", "00fc13adff785122b4ad28809a3420982341241421348097878e577c991de8f0",
            "42cfe90b-c7a1-4446-aeee-8a7bc99489af"
        ),
        (
            String(repeating: "x", count: 64),
            "00fc13adff785122b4ad28809a3420982341241421348097878e577c991de8f0",
            "636a8cf0-938f-423b-9f87-817b3c023d9a"
        ),
        (
            "order-4711", String(repeating: "ab", count: 100),
            "c013f9c4-ac02-40d7-9a2f-e8f6d1a328c0"
        ),
    ])
    func `an id is made of job and token as documented`(job: String, token: String, text: String) {
        let id = bytes(hex: token).withUnsafeBytes { PushID.Job(id: job).pushID(token: $0) }
        #expect(id.description == text)
    }

    @Test func `an id has the form of version 4 for any hash`() {
        var random = SplitMix(seed: 5)
        for _ in 0..<1000 {
            let text = Array(
                random.bytes(32).withUnsafeBytes { PushID.Job(id: "j").pushID(token: $0) }.description)
            #expect(text.count == 36)
            #expect(text[14] == "4")
            #expect("89ab".contains(text[19]))
            #expect([8, 13, 18, 23].allSatisfy { text[$0] == "-" })
        }
    }

    @Test func `an id of version 8 from an older log is the same push with the same mark`()
        throws
    {
        let id = bytes(hex: "deadbeefdeadbeef").withUnsafeBytes {
            PushID.Job(id: "order-4711").pushID(token: $0)
        }
        let before = try #require(PushID(text: "61665A69-EC20-875A-8B56-E60000DDF10E"))
        #expect(before == id && before.mark == id.mark && id.mark == 0x6166_5A69_EC20_875A)
        let other = try #require(PushID(text: "61665a69-ec20-775a-8b56-e60000ddf10e"))
        #expect(other != id)
    }

    @Test func `writes into a larger buffer and changes only its part`() {
        let id = [1, 2, 3].withUnsafeBytes { PushID.Job(id: "j").pushID(token: $0) }
        var buffer = [UInt8](repeating: 7, count: 40)
        buffer.withUnsafeMutableBytes { id.write(to: $0) }
        #expect(String(decoding: buffer[..<36], as: UTF8.self) == id.description)
        #expect(buffer[36...].allSatisfy { $0 == 7 })
    }

    @Test func `an id depends on the job, the token, and the border between them`() {
        let ids = [("a", [1]), ("b", [1]), ("a", [2]), ("a\u{1}", []), ("", [1])].map { job, token in
            (token as [UInt8]).withUnsafeBytes { PushID.Job(id: job).pushID(token: $0) }
        }
        #expect(Set(ids).count == ids.count)
    }
}
