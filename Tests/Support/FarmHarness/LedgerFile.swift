package import Foundation

/// A file of lines, each a JSON object, that a process is writing: the simulator's ledger.
package struct LedgerFile {
    /// Lines that are there whole: of a long write a reader may see the beginning first.
    package static func lines(_ path: String) -> [Data] {
        let data = FileManager.default.contents(atPath: path) ?? Data()
        let newline = UInt8(ascii: "\n")
        guard let end = data.lastIndex(of: newline) else { return [] }
        return data[..<end].split(separator: newline)
    }
}
