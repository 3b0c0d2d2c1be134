import Foundation

@testable import FarmStore

/// Scripts with one line changed: all that a slip of the hand may do to them.
struct LineMutant: Sendable, CustomStringConvertible {
    /// The script, or "prelude".
    let name: String
    let line: Int
    let before: String
    let after: String
    let text: [UInt8]

    var files: [String: [UInt8]] { [name: text] }
    var description: String { "\(name):\(line)  \(before)  ⟶  \(after.isEmpty ? "(gone)" : after)" }

    static var all: [LineMutant] {
        mutants(of: "prelude", PackageResources.prelude_lua)
            + Script.allCases.flatMap { mutants(of: "\($0)", ScriptVariant.file(of: $0)) }
    }

    private static func mutants(of name: String, _ file: [UInt8]) -> [LineMutant] {
        let lines = String(decoding: file, as: UTF8.self).components(separatedBy: "\n")
        return lines.indices.flatMap { index in
            variants(lines[index]).map { variant in
                var changed = lines
                changed[index] = variant
                return LineMutant(
                    name: name, line: index + 1, before: lines[index].trimmingCharacters(in: .whitespaces),
                    after: variant.trimmingCharacters(in: .whitespaces),
                    text: Array(changed.joined(separator: "\n").utf8))
            }
        }
    }

    private static let exchanges = [
        (" == ", " ~= "), (" ~= ", " == "), (" < ", " <= "), (" <= ", " < "), (" > ", " >= "),
        (" >= ", " > "),
        (" + ", " - "), (" - ", " + "), (" and ", " or "), (" or ", " and "), ("true", "false"),
        ("false", "true"),
        ("'LEFT'", "'RIGHT'"), ("'RIGHT'", "'LEFT'"), ("RPUSH", "LPUSH"), ("LPUSH", "RPUSH"),
        ("math.min", "math.max"),
        ("math.max", "math.min"), ("allow-oom", ""), (", 0", ", 1"), (", 1)", ", 0)"), (", -1", ", 1"),
        (" 0", " 1"),
        (" 1", " 0"), ("not ", ""),
    ]

    private static func variants(_ line: String) -> [String] {
        let code = line.trimmingCharacters(in: .whitespaces)
        if code.isEmpty || code.hasPrefix("--") { return [] }
        var variants: [String] = code.hasPrefix("#!") ? [] : [""]
        for (from, to) in exchanges {
            var start = line.startIndex
            while let range = line.range(of: from, range: start..<line.endIndex) {
                variants.append(line.replacingCharacters(in: range, with: to))
                start = range.upperBound
            }
        }
        return variants
    }
}
