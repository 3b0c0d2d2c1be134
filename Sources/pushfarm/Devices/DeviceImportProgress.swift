import Foundation
import PushModel

/// The progress of an import, as its state file stores it. Each line of the state file has one value.
struct DeviceImportProgress: Equatable, Sendable {
    let app: String
    /// The fingerprint of the imported file: its size and its first bytes.
    let fingerprint: UInt64
    let format: ImportFormat
    /// The offset of the first record that is not pushed yet.
    var offset = 0
    /// The number of lines before `offset`.
    var lines = 0
    var pushed = 0
    var refused = 0
    /// The size of the saved part of the file of refused records.
    var refusedBytes = 0

    private static let title = "pushfarm devices import 1"

    init(app: String, fingerprint: UInt64, format: ImportFormat) {
        (self.app, self.fingerprint, self.format) = (app, fingerprint, format)
    }

    var text: String {
        [
            Self.title, "app \(app)", "file \(String(fingerprint, radix: 16))", "format \(format.rawValue)",
            "offset \(offset)", "lines \(lines)", "pushed \(pushed)", "refused \(refused)",
            "refused_bytes \(refusedBytes)", "end",
        ].joined(separator: "\n") + "\n"
    }

    /// Returns nil if the text is not the content of a complete state file.
    init?(_ text: String) {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        guard lines.count == 11, lines[0] == Self.title, lines[9] == "end", lines[10] == "" else {
            return nil
        }
        let values = lines[1...8].map { $0.split(separator: " ", maxSplits: 1).last.map(String.init) ?? "" }
        let numbers = values[3...].compactMap { Int(foreign: $0) }
        guard let fingerprint = UInt64(unbounded: values[1], radix: 16),
            let format = ImportFormat(rawValue: values[2]), numbers.count == 5,
            numbers.allSatisfy({ $0 >= 0 })
        else { return nil }
        self.init(app: values[0], fingerprint: fingerprint, format: format)
        (offset, self.lines, pushed) = (numbers[0], numbers[1], numbers[2])
        (refused, refusedBytes) = (numbers[3], numbers[4])
    }

    /// The fingerprint of a file.
    static func fingerprint(of path: String) throws(CommandFailure) -> UInt64 {
        let file = try InputFile(path)
        var bytes = Array("\(file.byteCount ?? 0) ".utf8)
        while bytes.count < 1 << 20, try file.read(into: &bytes) > 0 {}
        return XXH64.hash(bytes, seed: 0)
    }
}
