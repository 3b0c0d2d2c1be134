import Foundation

/// The program as it was built, started as users start it.
enum BuiltProgram {
    /// Beside the test bundle.
    static var file: URL {
        let bundle = URL(fileURLWithPath: CommandLine.arguments[0]).resolvingSymlinksInPath()
        return bundle.deletingLastPathComponent().appendingPathComponent("pushfarm")
    }

    struct Result {
        let status: Int32
        let output: String
        let error: String
    }

    /// Starts it and waits for its end.
    static func run(_ arguments: [String], _ environment: [String: String] = [:]) throws -> Result {
        let process = Process()
        process.executableURL = file
        process.arguments = arguments
        process.environment = environment
        process.currentDirectoryURL = FileManager.default.temporaryDirectory
        let (output, error) = (Pipe(), Pipe())
        process.standardOutput = output
        process.standardError = error
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        let complaint = String(decoding: error.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return Result(status: process.terminationStatus, output: text, error: complaint)
    }
}
