import Testing

@testable import PushModel

struct JSONTextTests {
    @Test func `writes objects, arrays and all kinds of values`() {
        var text = JSONText()
        text.beginObject()
        text.member("id", "order \"4711\"")
        text.member("count", 3)
        text.member("done", true)
        text.key("list")
        text.beginArray()
        text.value(-1)
        text.null()
        text.beginObject()
        text.endObject()
        text.value(false)
        text.value(json: "{\"raw\": 1}".utf8)
        text.endArray()
        text.member("big", UInt64.max)
        text.endObject()
        #expect(
            text.string
                == #"{"id":"order \"4711\"","count":3,"done":true,"list":[-1,null,{},false,{"raw": 1}],"#
                + #""big":18446744073709551615}"#)
    }

    @Test func `escapes what must be, and repairs what is no UTF-8`() {
        var bytes: [UInt8] = []
        Array("a\"\\\n\r\t\u{0}\u{1f}\u{7f}é".utf8).withUnsafeBytes { JSONText.append($0, to: &bytes) }
        #expect(String(decoding: bytes, as: UTF8.self) == #""a\"\\\n\r\t\u0000\u001f\u007fé""#)
        bytes = []
        [UInt8]([0x61, 0xff, 0xe2, 0x82, 0x62]).withUnsafeBytes { JSONText.append($0, to: &bytes) }
        #expect(String(decoding: bytes, as: UTF8.self) == "\"a\u{FFFD}\u{FFFD}\u{FFFD}b\"")
    }
}

struct ErrorBodyTests {
    static func read(_ text: String) -> (reason: String?, timestamp: Int64?)? {
        Array(text.utf8).withUnsafeBytes { bytes in
            ErrorBody(bytes).map { ($0.reason.map { JSONScanner(bytes).text($0) }, $0.timestamp) }
        }
    }

    static let bodies: [(text: String, reason: String?, timestamp: Int64?)] = [
        (#"{"reason":"BadDeviceToken"}"#, "BadDeviceToken", nil),
        (#"{"reason":"Unregistered","timestamp":1700000000000}"#, "Unregistered", 1_700_000_000_000),
        (#" { "timestamp" : 1, "x":[{}], "reason" : "\u0041" } "#, "A", 1),
        (#"{"reason":"A","timestamp":1.5}"#, "A", nil),
        (#"{"reason":"A","timestamp":"1"}"#, "A", nil), (#"{"reason":null,"timestamp":7}"#, nil, 7),
        ("{}", nil, nil),
    ]

    @Test(arguments: bodies)
    func `reads reason and timestamp`(text: String, reason: String?, timestamp: Int64?) {
        let body = Self.read(text)
        #expect(body != nil && body?.reason == reason && body?.timestamp == timestamp)
    }

    @Test(arguments: ["", "[]", "\"reason\"", "{\"reason\":\"A\"", "<html>", "{\"reason\":\"A\"}x"])
    func `is nil for anything else`(text: String) { #expect(Self.read(text) == nil) }
}
