import APNs
import RandomTesting
import Testing

struct ErrorBodyTests {
    @Test(arguments: [
        (#"{"reason":"BadDeviceToken"}"#, "BadDeviceToken" as String?, nil as Int64?),
        (#"{"reason":"Unregistered","timestamp":1700000000123}"#, "Unregistered", 1_700_000_000_123),
        (" {\n\t\"timestamp\" : 7 ,\r\n \"reason\" : \"A\" } \n", "A", 7),
        (#"{"x":[1,{"reason":"no"},"]}"],"reason":"A","y":{"a":[]},"z":null,"t":true,"f":false}"#, "A", nil),
        (#"{"reason":"a\"\\\/\b\f\n\r\té😀b"}"#, "a\"\\/\u{8}\u{c}\n\r\té😀b", nil),
        (#"{"reason":"A","timestamp":12.75}"#, "A", nil), (#"{"reason":"A","timestamp":-3}"#, "A", -3),
        (#"{"reason":"A","timestamp":1e3}"#, "A", nil), (#"{"reason":"A","timestamp":"5"}"#, "A", nil),
        (#"{"reason":"A","timestamp":99999999999999999999}"#, "A", nil),
        (#"{"reason":"A","timestamp":9223372036854775807}"#, "A", 1 << 48),
        (#"{"reason":"A","timestamp":-9223372036854775808}"#, "A", -1 << 48),
        (#" { "timestamp" : 1, "x":[{}], "reason" : "\u0041" } "#, "A", 1),
        (#"{"reason":null,"timestamp":7}"#, nil, 7), (#"{"timestamp":5}"#, nil, 5),
        (#"{"reason":"A","reason":7}"#, "A", nil),
    ]) func `reads reason and timestamp`(text: String, reason: String?, timestamp: Int64?) throws {
        let body = try #require(withBytes(text) { ErrorBody($0) })
        #expect(body.reason == reason)
        #expect(body.timestamp == timestamp)
    }

    @Test(arguments: [
        "", " ", "{}", "[]", "null", "reason", "{", "}", #"{"reason"}"#, #"{"reason":}"#, #"{"reason":"A""#,
        #"{"reason":"A"},"#, #"{"reason":"A"}{}"#, #"{"reason":"A",}"#, #"{,"reason":"A"}"#,
        #"{"reason":"A" "b":1}"#,
        #"{"reason":"A}"#, #"{"reason":"\q"}"#, #"{"reason":"\u12"}"#, #"{"reason":"\ud800x"}"#,
        #"{"reason":tru}"#,
        #"{"reason":[}"#, #"{"reason":[}]}"#, #"{"reason":5}"#, #"{"reason":"A","n":-}"#,
        #"{"reason":"A","n":1.}"#,
        #"{"reason":"A","n":1e}"#, "<html></html>",
    ]) func `garbage has no reason and no timestamp`(text: String) {
        #expect(withBytes(text) { ErrorBody($0) } == nil)
    }

    @Test(arguments: ["", "{}", #"{"reason":5}"#, #"{"reason":"A"}"#])
    func `an object or an empty body may be from the gateway`(text: String) {
        #expect(!withBytes(text) { ErrorBody.isForeign($0) })
    }

    @Test(arguments: [" ", "[]", "\"reason\"", #"{"reason":"A""#, #"{"reason":"A"}x"#, "<html></html>"])
    func `a body that is not an object is not from the gateway`(text: String) {
        #expect(withBytes(text) { ErrorBody.isForeign($0) })
    }

    @Test(arguments: Reason.allCases) func `reads the bodies that a gateway writes`(reason: Reason) {
        for timestamp in [nil, 1_700_000_000_123] as [Int64?] {
            let body = ErrorBody.write(reason, timestamp: timestamp).withUnsafeBytes { ErrorBody($0) }
            #expect(body?.reason == reason.rawValue)
            #expect(body?.timestamp == timestamp)
        }
    }

    @Test func `deep nesting is refused`() {
        func text(_ depth: Int) -> String {
            #"{"a":"# + String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
                + #","reason":"A"}"#
        }
        #expect(withBytes(text(63)) { ErrorBody($0) }?.reason == "A")
        #expect(withBytes(text(64)) { ErrorBody($0) } == nil)
        #expect(withBytes(text(100_000)) { ErrorBody($0) } == nil)
    }

    @Test func `a long reason is cut between characters`() {
        let long = String(repeating: "é", count: 80)
        let body = withBytes(#"{"reason":"x\#(long)"}"#) { ErrorBody($0) }
        #expect(body?.reason == "x" + String(repeating: "é", count: 49))
    }

    @Test func `bytes that are not UTF-8 are garbage`() {
        let bytes = Array(#"{"reason":""#.utf8) + [0xFF, 0x41] + Array(#""}"#.utf8)
        #expect(bytes.withUnsafeBytes { ErrorBody($0) } == nil)
    }

    @Test func `random bytes never trap`() {
        var random = SplitMix(seed: 42)
        let seed = Array(#"{"reason":"Unreg\u00e9","timestamp":1700,"x":[{"a":"b"}]}"#.utf8)
        for _ in 0..<20_000 {
            var bytes = seed
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                let at = Int.random(in: 0..<bytes.count, using: &random)
                switch Int.random(in: 0..<3, using: &random) {
                case 0: bytes[at] = UInt8.random(in: 0...255, using: &random)
                case 1: bytes.removeSubrange(at...)
                default:
                    bytes.insert(
                        contentsOf: Array("\"\\{}[],:u09-".utf8).shuffled(using: &random).prefix(1), at: at)
                }
                if bytes.isEmpty { break }
            }
            _ = bytes.withUnsafeBytes { ErrorBody($0) }
        }
    }
}
