import RandomTesting
import Testing

@testable import PushModel

/// Compiles and renders random payloads, and damaged payloads.
struct TemplateFuzzTests {
    private static func text(_ random: inout SplitMix) -> String {
        let words = [
            "a", "é", "😀", "\\\"", "\\\\", "\\u00e9", "{", "}", " ", "|", "=", "{ {", "\\ud83d\\ude00", "\\n",
        ]
        // The separator keeps braces apart, which would form a placeholder.
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
                // A space keeps braces of the text apart from a placeholder.
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
            #expect(try TemplateTests.render(example.payload, example.values) == example.rendered)
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
