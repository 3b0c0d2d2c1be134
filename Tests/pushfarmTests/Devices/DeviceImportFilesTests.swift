import FarmHarness
import Foundation
import Testing

@testable import pushfarm

/// The state and the refused records of an import.
struct DeviceImportFilesTests {
    private let folder: TestFolder
    private let input: String

    init() throws {
        folder = try TestFolder()
        input = try folder.write("id,user\n", to: "d.csv")
    }

    private func open(
        _ fresh: DeviceImportProgress? = nil, startOver: Bool = false
    ) throws -> DeviceImportFiles {
        let paths = DeviceImportFiles.Paths(
            input: input, refused: input + ".refused", state: input + ".progress")
        let deadline = ContinuousClock.now + .seconds(2)
        while true {
            do throws(CommandFailure) {
                return try DeviceImportFiles(
                    paths, fresh: fresh ?? Self.fresh(), header: Array("id,user".utf8), startOver: startOver)
            } catch {
                // The files may be locked although no import runs: a child that another test starts at this moment inherits the
                // open files with their locks. So this function tries again.
                guard error.message.contains("another import"), ContinuousClock.now < deadline else {
                    throw error
                }
                usleep(10_000)
            }
        }
    }

    private static func fresh(_ app: String = "demo", _ fingerprint: UInt64 = 7) -> DeviceImportProgress {
        DeviceImportProgress(app: app, fingerprint: fingerprint, format: .csv)
    }

    private static func record(_ line: Int, _ text: String) -> ImportRecords.Record {
        ImportRecords.Record(line: line, raw: Array(text.utf8), input: .success([]))
    }

    private func text(_ ending: String) -> String? {
        try? String(contentsOfFile: input + ending, encoding: .utf8)
    }

    @Test func `a state is written and read unchanged, and a part of it is no state`() {
        var state = Self.fresh()
        (state.offset, state.lines, state.pushed, state.refused, state.refusedBytes) = (1, 2, 3, 4, 5)
        #expect(DeviceImportProgress(state.text) == state)
        for cut in 0..<state.text.utf8.count {
            #expect(DeviceImportProgress(String(state.text.prefix(cut))) == nil)
        }
        #expect(DeviceImportProgress(state.text.replacing("offset 1", with: "offset -1")) == nil)
    }

    @Test func `an interrupted import continues, and drops what it had not saved`() throws {
        do {
            let files = try open()
            files.refuse(Self.record(3, "bad,1"), ImportFault("wrong", field: "id"))
            files.advance(to: (offset: 40, lines: 4), pushed: 2)
            try files.save()
            files.refuse(Self.record(5, "bad,2"), ImportFault("wrong"))
            #expect(files.pendingCount == 1)
            files.advance(to: (offset: 60, lines: 5), pushed: 9)
        }
        let files = try open()
        #expect(files.isResumed && files.progress.offset == 40 && files.progress.lines == 4)
        #expect(files.progress.pushed == 2 && files.progress.refused == 1)
        files.refuse(Self.record(5, "bad,2"), ImportFault("wrong"))
        files.advance(to: (offset: 60, lines: 5), pushed: 9)
        try files.save()
        try files.finish()
        #expect(text(".refused") == "id,user\n# line 3, id: wrong\nbad,1\n# line 5: wrong\nbad,2\n")
        #expect(text(".progress") == nil)
    }

    @Test func `a record that is refused before a failure is refused once after it`() throws {
        do {
            let files = try open()
            files.refuse(Self.record(2, "bad"), ImportFault("wrong"))
            // Redis fails here, so the place in the input does not advance. The next import reads these records again.
            try files.save()
        }
        let files = try open()
        #expect(files.isResumed && files.progress.refused == 0 && text(".refused") == "")
    }

    @Test func `an import without refused records leaves no files`() throws {
        let files = try open()
        files.advance(to: (offset: 9, lines: 1), pushed: 1)
        try files.save()
        try files.finish()
        #expect(text(".refused") == nil && text(".progress") == nil)
    }

    @Test func `files of another import are not replaced without --start-over`() throws {
        _ = try folder.write("mine", to: "d.csv.refused")
        #expect(throws: CommandFailure.self) { try open() }
        #expect(text(".refused") == "mine")
        do {
            let files = try open(startOver: true)
            #expect(!files.isResumed && text(".refused") == "")
        }
        for other in [Self.fresh("other"), Self.fresh("demo", 8)] {
            let error = #expect(throws: CommandFailure.self) { try open(other) }
            #expect(error?.message.contains("--start-over") == true)
        }
        _ = try folder.write("nonsense", to: "d.csv.progress")
        #expect(throws: CommandFailure.self) { try open() }
    }

    @Test func `the fingerprint changes with the file's start and size`() throws {
        let paths = try ["a", "b", "aa"].enumerated().map { try folder.write($1, to: "f\($0)") }
        let prints = try paths.map { path throws(CommandFailure) in
            try DeviceImportProgress.fingerprint(of: path)
        }
        #expect(Set(prints).count == 3)
    }
}
