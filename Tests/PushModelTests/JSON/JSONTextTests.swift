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
        text.member("share") { $0.member("half", 0.5) }
        text.member("none", Double.nan)
        text.endObject()
        #expect(
            text.string
                == #"{"id":"order \"4711\"","count":3,"done":true,"list":[-1,null,{},false,{"raw": 1}],"#
                + #""big":18446744073709551615,"share":{"half":0.5},"none":null}"#)
    }

    @Test func `escapes special characters and replaces invalid UTF-8`() {
        var bytes: [UInt8] = []
        Array("a\"\\\n\r\t\u{0}\u{1f}\u{7f}é".utf8).withUnsafeBytes { JSONText.append($0, to: &bytes) }
        #expect(String(decoding: bytes, as: UTF8.self) == #""a\"\\\n\r\t\u0000\u001f\u007fé""#)
        bytes = []
        Array("\u{80}é\u{9f}\u{a0}".utf8).withUnsafeBytes { JSONText.append($0, to: &bytes) }
        #expect(String(decoding: bytes, as: UTF8.self) == "\"\\u0080é\\u009f\u{a0}\"")
        bytes = []
        [UInt8]([0xC2]).withUnsafeBytes { JSONText.append($0, to: &bytes) }
        #expect(String(decoding: bytes, as: UTF8.self) == "\"\u{FFFD}\"")
        bytes = []
        [UInt8]([0x61, 0xff, 0xe2, 0x82, 0x62]).withUnsafeBytes { JSONText.append($0, to: &bytes) }
        #expect(String(decoding: bytes, as: UTF8.self) == "\"a\u{FFFD}\u{FFFD}\u{FFFD}b\"")
    }
}
