import SourceMutants
import Testing

@Suite struct MutantFinderTests {
    private func changed(_ lines: String...) -> [String] {
        MutantFinder(file: "Sources/Processes/Worker/A.swift", text: lines.joined(separator: "\n")).mutants()
            .map(
                \.changed)
    }

    @Test(arguments: [
        ("guard isOpen else { return }", ["guard !(isOpen) else { return }"]),
        ("if a.isEmpty { b() }", ["if !(a.isEmpty) { b() }"]),
        ("if let a { b() }", []),
        ("x = a && b", ["x = a || b"]),
        ("x = a < b", ["x = a <= b"]),
        ("x = a >= b", ["x = a > b"]),
        ("x = a != b", ["x = a == b"]),
        ("isTrue = true", ["isTrue = false"]),
        ("x = construed", []),
        ("let a = [1, 20]", ["let a = [2, 20]", "let a = [1, 21]"]),
        ("let a = 1_000", ["let a = 1001"]),
        ("let a = b1 + $0 + 0x10", []),
        ("let text = \"1 && true\"", []),
        ("// guard a else { return 1 }", []),
        ("log.info(\"1\")", []),
        ("precondition(a == 1)", []),
    ]) func `conditions and constants are changed`(line: String, expected: [String]) {
        #expect(changed(line) == expected)
    }

    @Test func `a call that is a whole statement is removed, and a part of an expression is not`() {
        #expect(changed("{", "    stop()", "}") == [""])
        #expect(changed("{", "    count += delta", "}") == [""])
        #expect(changed("{", "    a = f(", "        b())", "}") == [])
        #expect(changed("{", "    stop()", "        .later()", "}") == [])
        #expect(changed("{", "    return stop()", "}") == [])
    }

    @Test func `a fault is applied only to the line where it was found`() throws {
        let text = "let a = 1\nlet b = 1\n"
        let mutants = MutantFinder(file: "Sources/Processes/Worker/A.swift", text: text).mutants()
        #expect(mutants.map { $0.apply(to: text) } == ["let a = 2\nlet b = 1\n", "let a = 1\nlet b = 2\n"])
        #expect(mutants[0].apply(to: "let c = 1\n") == nil)
        #expect(mutants[0].module == "Worker")
        #expect("\(mutants[1])" == "Sources/Processes/Worker/A.swift:2: let b = 1 → let b = 2")
    }

    @Test func `the first failed test is found in the output`() {
        let output = """
            ✔ Test "one" passed after 0.1 seconds.
            ✘ Test "two" recorded an issue with 1 argument at A.swift:3:1: Expectation failed
            ✘ Test "three" failed after 1 seconds.
            """
        #expect(MutantRun.failedTest(in: output) == "\"two\"")
        #expect(MutantRun.failedTest(in: "✘ Test \"three\" failed after 1 seconds.") == "\"three\"")
        #expect(MutantRun.failedTest(in: "✘ Suite A failed after 1 seconds.") == nil)
    }

    @Test func `a list names a line by a part that must occur once in the file`() throws {
        let read: (String) -> String = { _ in "let a = 1\nlet b = 1" }
        let found = try MutantList.mutants("# one\n\nA.swift\tb = 1\tb = 7\n", read: read)
        #expect(found.map(\.changed) == ["let b = 7"] && found[0].line == 2)
        #expect(throws: MutantList.Fault.self) { try MutantList.mutants("A.swift\t= 1\t= 2", read: read) }
        #expect(throws: MutantList.Fault.self) { try MutantList.mutants("A.swift = 1", read: read) }
    }
}
