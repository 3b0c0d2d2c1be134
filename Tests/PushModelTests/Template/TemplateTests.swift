import Testing

@testable import PushModel

struct TemplateTests {
    /// Compiles a payload and renders the payload with values, given as the text of a JSON object.
    static func render(_ payload: String, _ values: String = "{}") throws -> String {
        let text = Array((payload + values).utf8)
        return try text.withUnsafeBytes { bytes in
            let split = payload.utf8.count
            let template = try PayloadTemplate(compiling: 0..<split, of: bytes)
            var slots: [Range<Int>?] = []
            let fault = try template.read(at: split, of: bytes, start: 0, into: &slots)
            try #require(fault == nil, "\(fault?.reason ?? "")")
            var rendered: [UInt8] = []
            template.template.render(slots, of: bytes, to: &rendered)
            #expect(rendered.count == template.template.size(with: slots))
            try rendered.withUnsafeBytes { try JSONScanner.validate($0) }
            return String(decoding: rendered, as: UTF8.self)
        }
    }

    @Test(
        arguments: [
            (#"{"a":"Hi {{name}}!"}"#, #"{"name":"Ada"}"#, #"{"a":"Hi Ada!"}"#),
            (#"{"a":"{{x}}{{y}}{{x}}"}"#, #"{"y":"2","x":"1"}"#, #"{"a":"121"}"#),
            (#"{"a":"Hi {{name|there}}"}"#, "{}", #"{"a":"Hi there"}"#),
            (#"{"a":"Hi {{name|there}}"}"#, #"{"name":""}"#, #"{"a":"Hi "}"#),
            (#"{"a":"{{n|}}"}"#, "{}", #"{"a":""}"#),
            // Two placeholders have the same name and different defaults.
            (#"{"a":"{{n|1}}","b":"{{n|2}}"}"#, "{}", #"{"a":"1","b":"2"}"#),
            (#"{"a":"{{n|1}}","b":"{{n|2}}"}"#, #"{"n":3}"#, #"{"a":"3","b":"3"}"#),
            (
                #"{"a":"{{n}} of {{m}}: {{b}}"}"#, #"{"n":-1.50e1,"m":0,"b":true}"#,
                #"{"a":"-1.50e1 of 0: true"}"#
            ),
            // The escapes of a value are inserted unchanged, so that the rendered payload is valid JSON.
            (#"{"a":"{{n}}"}"#, #"{"n":"\"\\\n\u00e9é😀"}"#, #"{"a":"\"\\\n\u00e9é😀"}"#),
            (#"{"a":"{{n}}"}"#, #"{"n":"{{m}}"}"#, #"{"a":"{{m}}"}"#),
            (#"{"a":"{{n|\"x\" | y}}"}"#, "{}", #"{"a":"\"x\" | y"}"#),
            (#"{"a":"{{n}}"}"#, #"{"\u006e":"x","other":1}"#, #"{"a":"x"}"#),
            // A placeholder with `=` replaces the whole JSON string, with its quotation marks, by the value.
            (#"{"badge":"{{=n}}"}"#, #"{"n":3}"#, #"{"badge":3}"#),
            (#"{"badge":"{{=n|0}}"}"#, "{}", #"{"badge":0}"#),
            (#"{"badge":"{{=n|null}}","t":"{{n|-}}"}"#, #"{"n":"a"}"#, #"{"badge":"a","t":"a"}"#),
            (#"["{{=n}}" , "{{=n}}"]"#, #"{"n":false}"#, "[false , false]"),
            // Text that resembles a placeholder is not replaced.
            (#"{"a":"{{{{n}}"}"#, "{}", #"{"a":"{{n}}"}"#),
            (#"{"a":"{{{{{{n}}"}"#, #"{"n":1}"#, #"{"a":"{{1"}"#),
            (#"{"a":"{x} }} { {"}"#, "{}", #"{"a":"{x} }} { {"}"#),
            (#"{"a":"{\u007bn}}"}"#, "{}", #"{"a":"{\u007bn}}"}"#),
            (#"{"{{n}}" : {"{{m}}":"\"{{x}}"}}"#, #"{"x":1}"#, #"{"{{n}}" : {"{{m}}":"\"1"}}"#),
            (#"{"a":"{{n|}}}"}"#, "{}", #"{"a":"}"}"#),
            (
                #"{ "b" : [1, {"c":"\\"}], "a":"{{Az09._-}}" }"#, #"{"Az09._-":1}"#,
                #"{ "b" : [1, {"c":"\\"}], "a":"1" }"#
            ),
        ])
    func `a payload is rendered with values`(payload: String, values: String, expected: String) throws {
        #expect(try Self.render(payload, values) == expected)
    }

    @Test(
        arguments: [
            (#"{"a":"x{{n"}"#, 7, "no \"}}\""), (#"{"a":"{{n}","b":"}}"}"#, 6, "no \"}}\""),
            (#"{"a":"{{}}"}"#, 6, "the name"), (#"{"a":"{{ n }}"}"#, 6, "the name"),
            (#"{"a":"{{|x}}"}"#, 6, "the name"),
            (#"{"a":"{{{n}}}"}"#, 6, "the name"), (#"{"a":"{{é}}"}"#, 6, "the name"),
            (#"{"a":"{{=}}"}"#, 6, "the name"),
            ("{\"a\":\"{{\(String(repeating: "n", count: 65))}}\"}", 6, "1 to 64"),
            (#"{"a":"{{n|{{m}}"}"#, 6, "second \"{{\""), (#"{"a":"{{n {{m}}"}"#, 6, "second \"{{\""),
            (#"{"a":"x{{=n}}"}"#, 7, "whole string"), (#"{"a":"{{=n}} "}"#, 6, "whole string"),
            (#"{"a":"{{=n|x}}"}"#, 11, "must be a number"), (#"{"a":"{{=n|}}"}"#, 11, "must be a number"),
            (#"{"a":"{{=n|01}}"}"#, 11, "must be a number"), (#"{"a":"{{=n| 1}}"}"#, 11, "must be a number"),
            (#"{"a":"{{=n|{}}}"}"#, 11, "must be a number"),
        ])
    func `unknown syntax is refused with its position`(payload: String, position: Int, reason: String) {
        Array(payload.utf8).withUnsafeBytes { bytes in
            let fault = #expect(throws: TemplateFault.self) {
                try PayloadTemplate(compiling: 0..<bytes.count, of: bytes)
            }
            #expect(fault?.position == position && fault?.reason.contains(reason) == true, "\(fault as Any)")
        }
    }

    @Test func `a payload has at most 64 different placeholders`() throws {
        func payload(_ count: Int) -> String {
            "{\"a\":\"" + (0..<count).map { "{{n\($0)|}}{{n\($0)|}}" }.joined() + "\"}"
        }
        #expect(try Self.render(payload(64)) == #"{"a":""}"#)
        #expect(throws: TemplateFault.self) { try Self.render(payload(65)) }
    }
}
