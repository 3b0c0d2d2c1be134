import Foundation

@testable import RedisClient
@testable import StoreProtocol

/// A script with one changed line, like an accidental edit.
struct LineMutant: Sendable, CustomStringConvertible {
    /// The name of the changed file: a script, or a file that several scripts share.
    let name: String
    let line: Int
    let before: String
    let after: String
    let text: String

    var description: String { "\(name):\(line)  \(before)  ⟶  \(after.isEmpty ? "(gone)" : after)" }

    /// The text of the script with the changed line; nil if the script does not contain the changed file.
    func text(of script: Script) throws -> String? {
        guard name == script.rawValue || ScriptFolder.sharedFiles(of: script).contains(name) else {
            return nil
        }
        return try ScriptFolder.assemble(script) { $0 == name ? text : try ScriptFolder.file($0) }
    }

    /// The scripts that contain the changed file.
    var scripts: [Script] {
        Script.allCases.filter { name == $0.rawValue || ScriptFolder.sharedFiles(of: $0).contains(name) }
    }

    static func all(of name: String) throws -> [LineMutant] {
        let lines = try ScriptFolder.file(name).components(separatedBy: "\n")
        return lines.indices.flatMap { index in
            variants(lines[index]).map { variant in
                var changed = lines
                changed[index] = variant
                return LineMutant(
                    name: name, line: index + 1, before: lines[index].trimmingCharacters(in: .whitespaces),
                    after: variant.trimmingCharacters(in: .whitespaces),
                    text: changed.joined(separator: "\n"))
            }
        }
    }

    private static let exchanges = [
        (" == ", " ~= "), (" ~= ", " == "), (" < ", " <= "), (" <= ", " < "), (" > ", " >= "),
        (" >= ", " > "), (" < ", " > "), (" > ", " < "), (" + ", " - "), (" - ", " + "), (" and ", " or "),
        (" or ", " and "), ("true", "false"), ("false", "true"), ("'LEFT'", "'RIGHT'"), ("'RIGHT'", "'LEFT'"),
        ("RPUSH", "LPUSH"), ("LPUSH", "RPUSH"), ("math.min", "math.max"), ("math.max", "math.min"),
        (", 0", ", 1"), (", 1)", ", 0)"), (", -1", ", 1"), (", 1", ", -1"), (" 0", " 1"), (" 1", " 0"),
        (" 1", " 2"), ("not ", ""), ("== '1'", "== '0'"), ("'0'", "'1'"),
    ]

    private static func variants(_ line: String) -> [String] {
        let code = line.trimmingCharacters(in: .whitespaces)
        if code.isEmpty || code.hasPrefix("--") || code.hasPrefix("#!") { return [] }
        var variants: [String] = [""]
        for (from, to) in exchanges {
            var start = line.startIndex
            while let range = line.range(of: from, range: start..<line.endIndex) {
                let changed = line.replacingCharacters(in: range, with: to)
                if !variants.contains(changed) { variants.append(changed) }
                start = range.upperBound
            }
        }
        // Variants in which the line's condition is always true or always false.
        if let range = line.range(of: #"if .* then"#, options: .regularExpression) {
            variants.append(line.replacingCharacters(in: range, with: "if true then"))
            variants.append(line.replacingCharacters(in: range, with: "if false then"))
        }
        return variants
    }
}
