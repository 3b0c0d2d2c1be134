import Foundation

/// Records the duration of each test that starts processes. The time that a test waits for a slot does not count. Tests/all shows
/// the longest tests.
enum TestDurations {
    private static let file = FileManager.default.currentDirectoryPath + "/.build/tests/durations"

    static func note(_ duration: Duration, of test: String) {
        let seconds = Double(duration.components.seconds) + Double(duration.components.attoseconds) / 1e18
        let line = String(format: "%7.2f %@\n", seconds, test)
        // The file's folder exists only in a run of Tests/all. Without the folder nothing is recorded.
        let descriptor = open(file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        // A single write keeps the line whole when other tests write at the same time.
        _ = Array(line.utf8).withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
    }
}
