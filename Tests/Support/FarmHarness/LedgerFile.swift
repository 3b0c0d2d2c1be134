package import Foundation

/// The simulator's ledger: a file with one JSON object a line, which the simulator may still write.
package struct LedgerFile {
    package static func decode<Line: Decodable>(_ path: String) throws -> [Line] {
        let decoder = JSONDecoder()
        return try lines(path).map { try decoder.decode(Line.self, from: $0) }
    }

    /// The complete lines of the file. A reader may see only the beginning of a long last line.
    package static func lines(_ path: String) -> [Data] {
        let data = FileManager.default.contents(atPath: path) ?? Data()
        let newline = UInt8(ascii: "\n")
        guard let end = data.lastIndex(of: newline) else { return [] }
        return data[..<end].split(separator: newline)
    }
}
