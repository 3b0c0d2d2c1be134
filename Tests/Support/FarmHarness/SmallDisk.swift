import Foundation

/// A disk of three megabytes in memory that a test can fill. `deinit` removes the disk.
package final class SmallDisk {
    package struct Failure: Error, CustomStringConvertible {
        package let description: String
    }

    /// The reason why this machine cannot make a small disk; nil if the machine can.
    package static let obstacle: String? = {
        guard geteuid() == 0 else { return "a disk of a test's own needs root" }
        do {
            _ = try SmallDisk()
            return nil
        } catch { return "no disk of a test's own: \(error)" }
    }()

    package let path: String

    package init() throws {
        var template = Array((NSTemporaryDirectory() + "pd.XXXXXX").utf8CString)
        guard mkdtemp(&template) != nil else { throw CocoaError(.fileWriteUnknown) }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        Guardian.shared.watch(mount: path)
        guard mount("none", path, "tmpfs", 0, "size=3m") == 0 else {
            rmdir(path)
            throw Failure(description: "mount: \(String(cString: strerror(errno)))")
        }
    }

    deinit {
        umount2(path, Int32(MNT_DETACH))
        rmdir(path)
        Guardian.shared.forget(mount: path)
    }

    /// Fills the disk.
    package func fill() throws {
        let file = open(path + "/filler", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw Failure(description: "cannot fill \(path)") }
        defer { close(file) }
        let block = [UInt8](repeating: 0, count: 4096)
        while write(file, block, block.count) > 0 {}
    }

    /// Frees the disk's space. Empties the file before it removes the file, because a child of another test may still
    /// have the file open.
    package func free() {
        truncate(path + "/filler", 0)
        unlink(path + "/filler")
    }
}
