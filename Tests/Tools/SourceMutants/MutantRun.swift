import Foundation

/// Puts faults into the sources one at a time, builds, and runs the suites of the changed file until one suite fails.
///
/// The fault is in the work tree during the run. ``backup`` holds the original file. The run restores the file after each fault,
/// and at the next start if this process was killed.
package struct MutantRun {
    package enum Verdict: Equatable {
        /// A suite failed. The value is the first failed test, or the suite's pattern if no test failed, for example because the
        /// suite crashed.
        case noticed(by: String)
        case survived
        case doesNotCompile
    }

    private let folder: String
    private let say: (String) -> Void
    private var backup: String { folder + "/original" }
    private var backupPath: String { folder + "/path" }

    /// - Parameter folder: the folder for the backup and for the output of builds and tests.
    package init(folder: String, say: @escaping (String) -> Void) throws {
        (self.folder, self.say) = (folder, say)
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try putBack()
    }

    /// The suites to run, in order. The suites of the module's own tests come first because they are the fastest.
    package static func suites(for mutant: SourceMutant) -> [String] {
        ["^\(mutant.module)Tests\\.", "^(WorkerTests|CoordinatorTests|RedisClientTests)\\.", "^FarmTests\\."]
    }

    package func verdict(on mutant: SourceMutant, suites: [String]) throws -> Verdict {
        let text = try String(contentsOfFile: mutant.file, encoding: .utf8)
        guard let changed = mutant.apply(to: text) else {
            throw CocoaError(.fileReadCorruptFile, userInfo: [NSFilePathErrorKey: mutant.file])
        }
        try text.write(toFile: backup, atomically: true, encoding: .utf8)
        try mutant.file.write(toFile: backupPath, atomically: true, encoding: .utf8)
        defer { restore(mutant.file, text) }
        try changed.write(toFile: mutant.file, atomically: false, encoding: .utf8)
        guard try run(["build", "--build-tests"], log: "build") == .success else { return .doesNotCompile }
        for suite in suites {
            let end = try run(["test", "--skip-build", "--ignore-lock", "--filter", suite], log: "test")
            if case .failure(let test) = end { return .noticed(by: test ?? suite) }
        }
        return .survived
    }

    private func restore(_ file: String, _ text: String) {
        do {
            try text.write(toFile: file, atomically: false, encoding: .utf8)
            try FileManager.default.removeItem(atPath: backupPath)
        } catch { say("\(file) could not be put back; it is in \(backup): \(error)") }
    }

    private func putBack() throws {
        guard FileManager.default.fileExists(atPath: backupPath) else { return }
        let file = try String(contentsOfFile: backupPath, encoding: .utf8)
        say("putting back \(file), which an earlier run left with a fault")
        try String(contentsOfFile: backup, encoding: .utf8).write(
            toFile: file, atomically: false, encoding: .utf8)
        try FileManager.default.removeItem(atPath: backupPath)
    }

    private enum End: Equatable {
        case success
        /// The command failed. The value is the first test that failed; nil if no test failed.
        case failure(String?)
    }

    /// Runs `swift` for at most fifteen minutes. Tests end at the first line that reports a failure.
    private func run(_ arguments: [String], log: String) throws -> End {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["timeout", "--kill-after=10", "900", "swift"] + arguments
        let output = Pipe()
        process.standardOutput = output
        process.standardError = output
        try process.run()
        var kept = Data()
        var hasFailed = false
        while case let data = output.fileHandleForReading.availableData, !data.isEmpty {
            kept.append(data)
            if !hasFailed, data.range(of: Data("✘".utf8)) != nil {
                hasFailed = true
                process.terminate()
            }
        }
        process.waitUntilExit()
        try kept.write(to: URL(fileURLWithPath: folder + "/" + log))
        guard process.terminationStatus != 0 || hasFailed else { return .success }
        return .failure(Self.failedTest(in: String(decoding: kept, as: UTF8.self)))
    }

    /// Finds the name of the first failed test.
    /// - Parameter output: test output with lines such as `✘ Test "it ends" recorded an issue at …`.
    package static func failedTest(in output: String) -> String? {
        let start = "✘ Test "
        guard let line = output.split(separator: "\n").first(where: { $0.hasPrefix(start) }) else {
            return nil
        }
        let words = line.dropFirst(start.count)
        let end = [" recorded an issue", " failed after"].compactMap { words.firstRange(of: $0)?.lowerBound }
            .min()
        return String(words[..<(end ?? words.endIndex)])
    }
}
