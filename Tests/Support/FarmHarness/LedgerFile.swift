package import Foundation

/// The simulator's ledger: a file with one JSON object per line. The simulator may still append lines.
package struct LedgerFile {
    package static func decode<Line: Decodable>(_ path: String) throws -> [Line] {
        let decoder = JSONDecoder()
        return try lines(path).map { try decoder.decode(Line.self, from: $0) }
    }

    /// The complete lines of the file. A last line without a line feed is left out, because the simulator may not have
    /// written all of it.
    package static func lines(_ path: String) -> [Data] {
        let data = FileManager.default.contents(atPath: path) ?? Data()
        let newline = UInt8(ascii: "\n")
        guard let end = data.lastIndex(of: newline) else { return [] }
        return data[..<end].split(separator: newline)
    }
}
