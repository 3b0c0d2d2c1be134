import Foundation
import RandomTesting
import Testing

@testable import PushModel

/// Compares the farm's parser with Foundation's parser on the same texts. The parsers differ by design in these points:
/// - Foundation accepts byte order marks, UTF-16 and UTF-32. The farm accepts only UTF-8 without a byte order mark. The generated
///   texts do not test this difference, because they start with ASCII characters and contain no NUL.
/// - Foundation accepts up to 512 nested levels, and the farm accepts up to 64. The generated texts have fewer levels.
/// - Foundation accepts a comma before a closing bracket or brace. The farm refuses this comma, as RFC 8259 requires.
/// - Foundation refuses numbers that do not fit in a `Double`. The farm accepts all numbers that the JSON grammar allows.
struct JSONFuzzTests {
    static func foundationAccepts(_ bytes: [UInt8]) -> Bool {
        (try? JSONSerialization.jsonObject(with: Data(bytes), options: [.fragmentsAllowed])) != nil
    }

    static func hasHugeNumber(_ bytes: [UInt8]) -> Bool {
        let text = String(decoding: bytes, as: UTF8.self)
        return text.split { !"+-.eE0123456789".contains($0) }.contains {
            $0.count > 15 || $0.lowercased().split(separator: "e").last.map { $0.count > 2 } ?? false
        }
    }

    /// Whether the farm's parser stops at a closing bracket or brace directly after a comma.
    static func failsAfterComma(_ bytes: [UInt8]) -> Bool {
        bytes.withUnsafeBytes { buffer in
            do throws(JSONError) {
                try JSONScanner.validate(buffer)
                return false
            } catch {
                guard error.position < bytes.count, "]}".utf8.contains(bytes[error.position]) else {
                    return false
                }
                let before = bytes[..<error.position].last { !" \t\r\n".utf8.contains($0) }
                return before == UInt8(ascii: ",")
            }
        }
    }

    static func value(_ random: inout SplitMix, depth: Int) -> String {
        func pick(_ words: [String]) -> String { words.randomElement(using: &random)! }
        func space() -> String {
            random.chance(4) ? [" ", "\n", "\t", "\r\n"].randomElement(using: &random)! : ""
        }
        switch random.next() % (depth > 0 ? 8 : 6) {
        case 0: return pick(["null", "true", "false"])
        case 1, 2:
            return pick(["", "-"]) + pick(["0", "7", "12", "340"]) + pick(["", "", ".5", ".025"])
                + pick(["", "", "e2", "E-3", "e+1"])
        case 3, 4, 5:
            let parts = [
                "a", "Zz", "\\n", "\\\\", "\\\"", "\\u00e9", "\\ud83d\\ude00", "é", "😀", "€", "/", "\\/", " ",
                "0",
            ]
            return "\"" + (0..<Int.random(in: 0...12, using: &random)).map { _ in pick(parts) }.joined()
                + "\""
        case 6:
            let elements = (0..<Int.random(in: 0...4, using: &random)).map { _ in
                space() + value(&random, depth: depth - 1) + space()
            }
            return "[" + (elements.isEmpty ? space() : elements.joined(separator: ",")) + "]"
        default:
            let members = (0..<Int.random(in: 0...4, using: &random)).map { index in
                space() + "\"\(pick(["k", "é", "\\u0041", ""]))\(index)\"" + space() + ":" + space()
                    + value(&random, depth: depth - 1) + space()
            }
            return "{" + (members.isEmpty ? space() : members.joined(separator: ",")) + "}"
        }
    }

    static func mutate(_ bytes: inout [UInt8], _ random: inout SplitMix) {
        let alphabet =
            Array("{}[],:\"\\/0123456789.eE+-truefalsn \n\tu".utf8) + [
                0x80, 0xBF, 0xC3, 0xE2, 0xED, 0xF0, 0x1F,
            ]
        for _ in 0..<Int.random(in: 1...3, using: &random) {
            let byte = alphabet.randomElement(using: &random)!
            let at = Int.random(in: 0...bytes.count, using: &random)
            switch random.next() % 4 {
            case 0: bytes.insert(byte, at: at)
            case 1: if at < bytes.count { bytes[at] = byte }
            case 2: if at < bytes.count { bytes.remove(at: at) }
            default: bytes.removeSubrange(at..<min(bytes.count, at + Int.random(in: 0...6, using: &random)))
            }
        }
    }

    @Test func `agrees with Foundation`() {
        var random = SplitMix(seed: 2026)
        var (accepted, refused) = (0, 0)
        for round in 0..<20_000 {
            var bytes = Array(Self.value(&random, depth: 4).utf8)
            if round % 4 > 0 { Self.mutate(&bytes, &random) }
            guard let first = bytes.first, first < 0x80 else { continue }
            let ours = JSONConformanceTests.accepts(bytes)
            let theirs = Self.foundationAccepts(bytes)
            if ours != theirs, !(ours ? Self.hasHugeNumber(bytes) : Self.failsAfterComma(bytes)) {
                let text = String(decoding: bytes, as: UTF8.self).debugDescription
                Issue.record("ours \(ours), Foundation \(theirs): \(text)")
            }
            if ours { accepted += 1 } else { refused += 1 }
        }
        #expect(accepted > 5000 && refused > 5000)
    }

    @Test func `gives the same string texts as Foundation`() throws {
        var random = SplitMix(seed: 77)
        var compared = 0
        while compared < 3000 {
            let text = Self.value(&random, depth: 0)
            guard text.first == "\"" else { continue }
            compared += 1
            let theirs =
                try JSONSerialization.jsonObject(with: Data(text.utf8), options: [.fragmentsAllowed])
                as? String
            let ours = try JSONScannerTests.scan(text) { scanner in
                let string = try scanner.string()
                return scanner.text(string)
            }
            #expect(ours == theirs)
        }
    }

    @Test func `the farm and Foundation read the output of the writer`() throws {
        var random = SplitMix(seed: 99)
        let scalars: [Unicode.Scalar] = [
            "a", "\"", "\\", "\0", "\u{1f}", "\u{7f}", "\n", "é", "€", "😀", "\u{2028}", "/",
        ]
        for _ in 0..<2000 {
            var text = String.UnicodeScalarView()
            for _ in 0..<Int.random(in: 0...10, using: &random) {
                text.append(scalars.randomElement(using: &random)!)
            }
            var bytes: [UInt8] = []
            JSONText.append(String(text), to: &bytes)
            let ours = try JSONScannerTests.scan(String(decoding: bytes, as: UTF8.self)) { scanner in
                let string = try scanner.string()
                try scanner.end()
                return scanner.text(string)
            }
            let theirs =
                try JSONSerialization.jsonObject(with: Data(bytes), options: [.fragmentsAllowed]) as? String
            #expect(ours == String(text) && theirs == String(text))
        }
    }
}
