import FarmHarness
import Foundation
import Fuzzing
import Testing

/// Runs each fuzz target in its own process; all processes run at the same time. A process runs the corpus and the inputs of
/// earlier crashes, and then changed inputs for two seconds of processor time. A trap ends the process, and the input that
/// caused the trap stays in a file.
///
/// These runs choose inputs without coverage data. `make fuzz` uses coverage data; earlier runs of it found the inputs of the corpora.
@Suite struct FuzzTests {
    @Test(arguments: FuzzTarget.all.map(\.name))
    func `the properties of the target hold for all inputs`(target: String) async throws {
        #expect(try Sources.files(in: "Tests/Tools/Fuzzing/Corpora/\(target)").count > 3, "no corpus")
        let folder = try TestFolder()
        let last = folder.path + "/last"
        let inputs = try ["Corpora", "Crashers"].flatMap {
            try Sources.files(in: "Tests/Tools/Fuzzing/\($0)/\(target)")
        }
        let program =
            URL(fileURLWithPath: BuiltProgram.path).deletingLastPathComponent().path + "/pushfarm-fuzz"
        let child = try Child(
            "fuzz", program, ["--target=\(target)", "--seconds=2", "--seed=2026", "--last=\(last)"] + inputs,
            in: folder.path)
        // The time limit is long, because the process runs at a low priority.
        let end = try await child.wait(within: .seconds(600))
        guard end != .exited(0) else { return }
        let input = FileManager.default.contents(atPath: last) ?? Data()
        Issue.record(
            "\(end): \(child.error.prefix(600))\ninput in base64: \(input.base64EncodedString())")
    }

    @Test func `the loop measures time only with the given clock`() throws {
        let loop = FuzzLoop(FuzzTarget.all[0], corpus: [Array("{}".utf8)], seed: 1)
        var spent = Duration.zero
        // The loop reads the clock once before the start and once before each new input. At the fifth reading the time is over.
        let count = try loop.run(
            for: .seconds(4),
            spent: {
                spent += .seconds(1)
                return spent
            }, trying: { _ in })
        #expect(count == 1 + 3)
    }

    /// Each type that reads Redis replies or messages of another process must be in the list of a fuzz target.
    @Test(arguments: [
        ("Sources/Core/StoreProtocol", ": Request {", "FuzzTarget+Replies.swift"),
        ("Sources/Core/ControlChannel", ": ControlMessage {", "FuzzTarget+Control.swift"),
    ])
    func `the fuzz targets include every reader`(folder: String, ending: String, list: String) throws {
        let listed = try Sources.text(of: "Tests/Tools/Fuzzing/" + list)
        let lines = try Sources.files(in: folder).filter { $0.hasSuffix(".swift") }
            .flatMap { try String(contentsOfFile: $0, encoding: .utf8).split(separator: "\n") }
        let readers = lines.filter { $0.hasSuffix(ending) }
            .compactMap { $0.dropLast(ending.count).split(separator: " ").last }
        #expect(readers.count > 1)
        for reader in readers { #expect(listed.contains("\(reader).self"), "\(reader)") }
    }
}

/// The files of the package.
private enum Sources {
    private static let package = Repository.root.path

    static func text(of path: String) throws -> String {
        try String(contentsOfFile: "\(package)/\(path)", encoding: .utf8)
    }

    /// Paths of all files below a folder. The result is empty if the folder does not exist: git stores no empty folders.
    static func files(in folder: String) throws -> [String] {
        let place = "\(package)/\(folder)"
        guard FileManager.default.fileExists(atPath: place) else { return [] }
        return try FileManager.default.subpathsOfDirectory(atPath: place).sorted().map { "\(place)/\($0)" }
            .filter {
                (try? FileManager.default.attributesOfItem(atPath: $0)[.type] as? FileAttributeType)
                    == .typeRegular
            }
    }
}
