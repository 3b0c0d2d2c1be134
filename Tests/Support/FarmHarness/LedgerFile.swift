package import Foundation

/// A file of lines, each a JSON object, that a process is writing: the simulator's ledger.
package struct LedgerFile {
    package static func decode<Line: Decodable>(_ path: String) throws -> [Line] {
        let decoder = JSONDecoder()
        return try lines(path).map { try decoder.decode(Line.self, from: $0) }
    }

    /// The complete lines: a reader may see the beginning of a long write first.
    package static func lines(_ path: String) -> [Data] {
        let data = FileManager.default.contents(atPath: path) ?? Data()
        let newline = UInt8(ascii: "\n")
        guard let end = data.lastIndex(of: newline) else { return [] }
        return data[..<end].split(separator: newline)
    }
}
