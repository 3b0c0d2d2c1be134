import Foundation

/// The folder of one test. The folder's name is short, because the system limits the length of a socket's path.
package final class TestFolder {
    package let path: String
    private let folders = TestFolders.current

    package init() throws {
        var template = Array((NSTemporaryDirectory() + "pf.XXXXXX").utf8CString)
        guard mkdtemp(&template) != nil else { throw CocoaError(.fileWriteUnknown) }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        Guardian.shared.watch(folder: path)
    }

    deinit {
        if let folders { return folders.leave(path) }
        try? FileManager.default.removeItem(atPath: path)
        Guardian.shared.forget(folder: path)
    }

    @discardableResult
    package func write(_ text: String, to name: String) throws -> String {
        let file = "\(path)/\(name)"
        // The file is replaced in one step, so that no reader sees half of it.
        try Data(text.utf8).write(to: URL(fileURLWithPath: file), options: .atomic)
        return file
    }

    /// Writes a program to a path in this folder, and creates the folders of the path. The command `install` writes the file. If
    /// this process wrote the file, a child that another test starts meanwhile could inherit the open file, and the system does
    /// not execute a file that is open for writing.
    /// - Returns: the program's path.
    @discardableResult
    package func install(_ source: String, as name: String) async throws -> String {
        let file = "\(path)/\(name)"
        let install = try Child("install", "/usr/bin/install", ["-D", "-m", "755", source, file], in: path)
        guard try await install.wait() == .exited(0) else {
            throw Overdue(description: "\(file) was not written: \(install.error)")
        }
        return file
    }

    /// Writes a shell script that can be executed, and returns its path.
    package func program(_ script: String, named name: String) async throws -> String {
        try await install(write(script, to: name + ".text"), as: name)
    }

    package func copy(_ source: String, to name: String) throws {
        try write(String(contentsOfFile: source, encoding: .utf8), to: name)
    }
}
