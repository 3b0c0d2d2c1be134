import Foundation

/// Lines that are there at once, also in a pipe.
enum LineOutput {
    static func say(_ line: String) {
        try? FileHandle.standardOutput.write(contentsOf: Data((line + "\n").utf8))
    }
}
