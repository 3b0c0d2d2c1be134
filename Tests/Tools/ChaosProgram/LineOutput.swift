import Foundation

/// Writes lines without buffering, even to a pipe.
enum LineOutput {
    static func say(_ line: String) {
        try? FileHandle.standardOutput.write(contentsOf: Data((line + "\n").utf8))
    }
}
