import Foundation

/// A folder of one test's own; its name is short, for sockets are in it.
package final class TestFolder {
    package let path: String

    package init() throws {
        var template = Array((NSTemporaryDirectory() + "pf.XXXXXX").utf8CString)
        guard mkdtemp(&template) != nil else { throw CocoaError(.fileWriteUnknown) }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        Guardian.shared.watch(folder: path)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
        Guardian.shared.forget(folder: path)
    }

    @discardableResult
    package func write(_ text: String, to name: String) throws -> String {
        let file = "\(path)/\(name)"
        // Replaced in one step, as careful tools do it.
        try Data(text.utf8).write(to: URL(fileURLWithPath: file), options: .atomic)
        return file
    }

    package func copy(_ source: String, to name: String) throws {
        try write(String(contentsOfFile: source, encoding: .utf8), to: name)
    }
}
