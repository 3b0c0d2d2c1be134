package import Foundation

/// A file of lines, each a JSON object, that a process is writing: the simulator's ledger.
package struct LedgerFile {
    /// The complete lines: a reader may see only the beginning of a long write.
    package static func lines(_ path: String) -> [Data] {
        let data = FileManager.default.contents(atPath: path) ?? Data()
        let newline = UInt8(ascii: "\n")
        guard let end = data.lastIndex(of: newline) else { return [] }
        return data[..<end].split(separator: newline)
    }
}
