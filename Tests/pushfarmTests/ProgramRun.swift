import FarmHarness
import Testing

/// A run of the built program, started like users start it.
struct ProgramRun {
    struct Result {
        let status: Int32
        let output: String
        let error: String
    }

    private let folder: TestFolder
    private let child: Child

    /// Starts the program with `variables`, and with an empty `PATH` unless `variables` sets it.
    init(_ arguments: [String], _ variables: [String: String] = [:]) throws {
        folder = try TestFolder()
        child = try Child(
            "pushfarm", BuiltProgram.path, arguments, environment: ["PATH": ""].merging(variables) { $1 },
            in: folder.path)
    }

    /// Starts the program and waits until it exits.
    static func run(_ arguments: [String], _ variables: [String: String] = [:]) async throws -> Result {
        try await ProgramRun(arguments, variables).wait()
    }

    func signal(_ number: Int32) { child.signal(number) }

    /// The first line of output with its line feed. If the output ends before a line feed, returns the text up to the
    /// end.
    func firstLine() async throws -> String {
        try await eventually("the program prints a line") {
            let hasEnded = child.hasEnded
            let output = child.output
            if let end = output.firstIndex(of: "\n") { return String(output[...end]) }
            return hasEnded ? output : nil
        }
    }

    /// Waits until the program exits.
    func wait() async throws -> Result {
        let status: Int32 =
            switch try await child.wait() {
            case .exited(let status): status
            case .killed(let signal): -signal
            }
        return Result(status: status, output: child.output, error: child.error)
    }
}
