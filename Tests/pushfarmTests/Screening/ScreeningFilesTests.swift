import FarmHarness
import Foundation
import Testing

@testable import pushfarm

/// Checks the files of a screening and their content after an interruption.
struct ScreeningFilesTests {
    private let folder: TestFolder
    private let tokens: String

    init() throws {
        folder = try TestFolder()
        tokens = try folder.write("x", to: "t")
    }

    private func record(_ app: String = "demo", fingerprint: UInt64 = 1, run: String = "first")
        -> ScreeningRecord
    {
        ScreeningRecord(app: app, run: run, fingerprint: fingerprint, chunk: 10, since: "1-0")
    }

    private func paths(good: String? = nil, invalid: String? = nil) -> ScreeningFiles.Paths {
        ScreeningFiles.Paths(tokens: tokens, good: good, invalid: invalid, rest: nil)
    }

    /// Opens the files. Tries again for 2 seconds while the files are locked: a child that another test starts at this moment
    /// inherits the open files with their locks, and keeps the locks until the child executes its program.
    private func open(
        _ record: ScreeningRecord, _ paths: ScreeningFiles.Paths? = nil, startOver: Bool = false
    ) throws(CommandFailure) -> ScreeningFiles {
        let deadline = ContinuousClock.now + .seconds(2)
        while true {
            do throws(CommandFailure) {
                return try ScreeningFiles(paths ?? self.paths(), fresh: record, startOver: startOver)
            } catch {
                guard error.message.contains("another screening"), ContinuousClock.now < deadline else {
                    throw error
                }
                usleep(10_000)
            }
        }
    }

    private func text(_ name: String) -> String? {
        try? String(contentsOfFile: tokens + name, encoding: .utf8)
    }

    /// The error of opening the files, with its exit status.
    private func refusal(
        _ record: ScreeningRecord, _ paths: ScreeningFiles.Paths? = nil, startOver: Bool = false
    ) -> String? {
        do throws(CommandFailure) {
            _ = try open(record, paths, startOver: startOver)
            return nil
        } catch { return error.status == .usage ? error.message : nil }
    }

    private func writeSome() throws {
        let files = try open(record())
        files.add("aa", .good)
        files.add("bb", .invalid(reason: "Unregistered", time: 7, wasKnown: false))
        files.add("rr", .undecided(reason: "unseen", cause: nil))
        let done = RangeSet(0..<1)
        try files.commit(done: done, since: "2-0")
        files.add("cc", .good)
    }

    @Test func `exactly the committed lines are read again`() throws {
        try writeSome()
        #expect(
            text(".good") == "aa\n" && text(".invalid") == "bb Unregistered 7\n"
                && text(".rest") == "rr unseen\n")
        // The file has the same content as after a kill of a process that had written lines, but not yet the progress record.
        try Data("aa\ncc\nd".utf8).write(to: URL(fileURLWithPath: tokens + ".good"))
        let files = try open(record(run: "second"))
        #expect(files.isResumed && files.record.run == "first" && files.record.since == "2-0")
        #expect(files.record.done.contains(0) && files.record.tally.count == 3)
        files.add("dd", .undecided(reason: "exhausted", cause: "throttled"))
        files.add("ee", .good)
        try files.commit(done: files.record.done, since: "3-0")
        #expect(text(".good") == "aa\nee\n" && text(".rest") == "rr unseen\ndd exhausted throttled\n")
    }

    @Test func `existing files are kept unless a new start is requested`() throws {
        try writeSome()
        #expect(refusal(record("other"))?.contains("--start-over") == true)
        #expect(refusal(record(fingerprint: 2))?.contains("has changed") == true)
        try FileManager.default.removeItem(atPath: tokens + ".good.progress")
        #expect(refusal(record())?.contains("--start-over") == true)
        try folder.write("no record", to: "t.good.progress")
        #expect(refusal(record())?.contains("cannot be read") == true)
        #expect(text(".good") == "aa\n")
        let files = try open(record(run: "second"), startOver: true)
        #expect(
            !files.isResumed && files.record.run == "second" && text(".good") == "" && text(".invalid") == "")
    }

    @Test func `lost lines are not invented`() throws {
        try writeSome()
        try folder.write("", to: "t.good")
        #expect(refusal(record())?.contains("has lost lines") == true)
    }

    @Test func `two names of one file and special files are refused`() throws {
        #expect(refusal(record(), paths(good: tokens))?.contains("the same file") == true)
        #expect(refusal(record(), paths(good: tokens + ".d", invalid: tokens + ".d")) != nil)
        #expect(refusal(record(), paths(good: "/dev/null")) != nil)
        #expect(try String(contentsOfFile: tokens, encoding: .utf8) == "x")
    }

    @Test func `only one screening may use a file at a time`() throws {
        let files = try open(record())
        #expect(refusal(record())?.contains("another screening") == true)
        _ = files.isResumed
    }
}
