import Foundation
import Fuzzing
import Testing

#if canImport(Glibc)
    import Glibc
#endif

/// Each target over its corpus and what was once wrong with it, then five seconds of changed inputs, in a process of
/// its own: a trap ends that process, and leaves the input behind.
///
/// Without coverage, which `make fuzz` has; the corpora are what that found.
@Suite(.serialized) struct FuzzTests {
    @Test func `a job`() async { await #expect(processExitsWith: .success) { try fuzz("job") } }
    @Test func `an answer`() async { await #expect(processExitsWith: .success) { try fuzz("answer") } }
    @Test func `a batch`() async { await #expect(processExitsWith: .success) { try fuzz("batch") } }
    @Test func `results`() async { await #expect(processExitsWith: .success) { try fuzz("results") } }
    @Test func `a configuration`() async {
        await #expect(processExitsWith: .success) { try fuzz("configuration") }
    }
    @Test func `bytes of Redis`() async { await #expect(processExitsWith: .success) { try fuzz("resp") } }
    @Test func `replies of Redis`() async {
        await #expect(processExitsWith: .success) { try fuzz("replies") }
    }
    @Test func `control messages`() async {
        await #expect(processExitsWith: .success) { try fuzz("control") }
    }
    @Test func `bytes of a gateway`() async {
        await #expect(processExitsWith: .success) { try fuzz("http2") }
    }

    @Test func `every target has its test and its corpus`() throws {
        let names = FuzzTarget.all.map(\.name)
        #expect(Set(names).count == names.count)
        let tests = try String(contentsOfFile: #filePath, encoding: .utf8)
        for name in names {
            #expect(tests.contains("try fuzz(\"\(name)\")"), "\(name) has no test")
            #expect(try Corpus.inputs(name).count > 3, "\(name) has no corpus")
        }
    }

    /// What reads replies of Redis or messages of another process, and is not in the lists of the targets.
    @Test(arguments: [
        ("Sources/FarmStore", ": Request {", "FuzzTarget+Replies.swift"),
        ("Sources/ControlChannel", ": ControlMessage {", "FuzzTarget+Control.swift"),
    ])
    func `nothing that can be fuzzed is left out`(folder: String, ending: String, list: String) throws {
        let listed = try Corpus.source("Tests/Fuzzing/" + list)
        let lines = try Corpus.sources(folder).flatMap { $0.split(separator: "\n") }
        let readers = lines.filter { $0.hasSuffix(ending) }
            .compactMap { $0.dropLast(ending.count).split(separator: " ").last }
        #expect(readers.count > 1)
        for reader in readers { #expect(listed.contains("\(reader).self"), "\(reader)") }
    }
}

private func fuzz(_ name: String) throws {
    let target = try #require(FuzzTarget.all.first { $0.name == name })
    // A machine with other work does that first.
    _ = nice(10)
    let trace = Corpus.lastInput(name)
    let loop = FuzzLoop(target, corpus: try Corpus.inputs(name), seed: 2026)
    do throws(FuzzLoop.Failure) {
        _ = try loop.run(for: .seconds(5)) { trace.write($0) }
    } catch {
        Issue.record(
            "\(error)\ninput, also in \(trace.path): \(String(decoding: error.input, as: UTF8.self).debugDescription)"
        )
        return
    }
    trace.remove()
}
