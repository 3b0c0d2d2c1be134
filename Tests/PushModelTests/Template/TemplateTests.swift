import RandomTesting
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

    // MARK: Random templates

    private static func text(_ random: inout SplitMix) -> String {
        let words = [
            "a", "é", "😀", "\\\"", "\\\\", "\\u00e9", "{", "}", " ", "|", "=", "{ {", "\\ud83d\\ude00", "\\n",
        ]
        // Without the separator, two adjacent braces would begin a placeholder.
        return (0..<random.int(in: 0...4)).map { _ in words[random.int(in: 0...words.count - 1)] }
            .joined(separator: "-")
    }

    /// A payload of random strings, the same payload with the values inserted, and the values.
    private static func example(_ random: inout SplitMix) -> (
        payload: String, rendered: String, values: String
    ) {
        let names = ["n", "name", "a.b", "A-_9"]
        var given: [String: String] = [:]
        for name in names where random.chance(2) { given[name] = text(&random) }
        var (payload, rendered) = ("{\"aps\" :[", "{\"aps\" :[")
        func add(_ both: String) {
            payload += both
            rendered += both
        }
        for number in 0..<random.int(in: 1...6) {
            add(number > 0 ? ",\"" : "\"")
            for _ in 0..<random.int(in: 0...4) {
                // Without the space, a brace at the end of the text would join the braces of the placeholder.
                add(text(&random) + " ")
                let name = names[random.int(in: 0...names.count - 1)]
                let fallback = text(&random).filter { $0 != "{" && $0 != "}" }
                if given[name] == nil || random.chance(2) {
                    payload += "{{\(name)|\(fallback)}}"
                    rendered += given[name] ?? fallback
                } else {
                    payload += "{{\(name)}}"
                    rendered += given[name] ?? ""
                }
                if random.chance(4) {
                    payload += " {{{{"
                    rendered += " {{"
                }
                add(" ")
            }
            add("\"")
        }
        add("]}")
        let values = given.map { "\"\($0)\":\"\($1)\"" }.joined(separator: ",")
        return (payload, rendered, "{" + values + "}")
    }

    @Test func `random payloads are rendered like text replacement and survive their encoding`() throws {
        var random = SplitMix(seed: 21)
        for _ in 0..<3000 {
            let example = Self.example(&random)
            #expect(try Self.render(example.payload, example.values) == example.rendered)
            try Array(example.payload.utf8).withUnsafeBytes { bytes in
                let template = try PayloadTemplate(compiling: 0..<bytes.count, of: bytes).template
                try template.encoded.withUnsafeBytes { encoded in
                    var reader = ByteReader(encoded)
                    #expect(try Template(from: &reader).encoded == template.encoded)
                    try reader.end()
                }
            }
        }
    }

    @Test func `damaged payloads are refused or give valid JSON`() {
        var random = SplitMix(seed: 22)
        let words = ["{{", "}}", "{{=", "|", "\"", "\\", "{", "}", "n", "{{n}}", "{{{{", ":", "0", "\\u007b"]
        var (refused, rendered) = (0, 0)
        for _ in 0..<20_000 {
            var bytes = Array(Self.example(&random).payload.utf8)
            for _ in 0..<random.int(in: 1...3) {
                let at = random.int(in: 0...bytes.count)
                if random.chance(2) {
                    bytes.insert(contentsOf: words[random.int(in: 0...words.count - 1)].utf8, at: at)
                } else {
                    bytes.removeSubrange(at..<min(bytes.count, at + random.int(in: 0...3)))
                }
            }
            bytes.withUnsafeBytes { bytes in
                guard (try? JSONScanner.validate(bytes)) != nil else { return }
                do throws(TemplateFault) {
                    let template = try PayloadTemplate(compiling: 0..<bytes.count, of: bytes)
                    var payload: [UInt8] = []
                    let values = Array("\"v\\u00e9\"".utf8)
                    let slots = template.placeholders.map {
                        $0.isJSON ? 0..<values.count : 1..<values.count - 1
                    }
                    values.withUnsafeBytes { template.template.render(slots, of: $0, to: &payload) }
                    let isJSON = payload.withUnsafeBytes { (try? JSONScanner.validate($0)) != nil }
                    #expect(isJSON, "\(String(decoding: bytes, as: UTF8.self))")
                    rendered += 1
                } catch {
                    #expect((0..<bytes.count).contains(error.position))
                    refused += 1
                }
            }
        }
        #expect(refused > 500 && rendered > 1000, "\(refused) \(rendered)")
    }
}
