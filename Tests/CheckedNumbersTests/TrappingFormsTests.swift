import FarmHarness
import Foundation
import Testing

/// Forbids code that can trap on bytes from outside. A trap ends the process.
struct TrappingFormsTests {
    private static let package = Repository.root.path

    /// Targets that read no bytes from other processes, except in tests.
    private static let exempt: Set<String> = ["CheckedNumbers", "Failpoints", "Simulator"]

    @Test func `conversions that trap or have no bound do not compile with CheckedNumbers`() async throws {
        let forms = [
            "Int(fraction)", "Int64(fraction)", "UInt64(fraction)", "UInt32(fraction)",
            "Int(text)", "Int(part)", "Int64(text, radix: 16)", "UInt16(part)", "texts.map(Int.init)",
            "texts.compactMap { Int64($0) }", "Duration.seconds(fraction)", "Duration.milliseconds(fraction)",
        ]
        let allowed = [
            "Int(foreign: text)", "Int(clamping: fraction)", "UInt64(unbounded: part, radix: 16)",
            "Duration(clampingSeconds: fraction)", "Int(small)", "UInt64(7)", "Duration.seconds(3)",
            "Int(foreign: 9223372036854775807 as Int64)",
        ]
        let folder = try TestFolder()
        let file = try folder.write(
            "func use(_ fraction: Double, _ text: String, _ part: Substring, _ texts: [String], _ small: UInt16) {\n"
                + (forms + allowed).map { "    _ = \($0)\n" }.joined() + "}\n", to: "Forms.swift")
        let sources = try FileManager.default.contentsOfDirectory(
            atPath: Self.package + "/Sources/Model/CheckedNumbers"
        ).map { Self.package + "/Sources/Model/CheckedNumbers/" + $0 }
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        let compiler = try Child(
            "swiftc", "swiftc",
            ["-typecheck", "-parse-as-library", "-package-name", "forms", "-module-name", "Forms", file]
                + sources, environment: ["PATH": path], in: folder.path)
        #expect(try await compiler.wait(within: .seconds(120)) == .exited(0), "\(compiler.error)")
        let lines = compiler.error.matches(of: /Forms\.swift:(\d+):\d+: warning: '[^']+' is deprecated/)
            .compactMap {
                Int($0.1)
            }
        let refused = Set(lines.map { (forms + allowed)[$0 - 2] })
        #expect(refused == Set(forms), "\(compiler.error.prefix(2000))")
    }

    @Test func `targets that read foreign bytes import CheckedNumbers into all their files`() throws {
        let manifest = try Repository.text(of: "Package.swift")
        let exempt = Set(
            manifest.matches(of: /"(\w+)",\s+(?:\[[^\]]*\],\s+)?isChecked: false/).map { String($0.1) })
        #expect(
            exempt == Self.exempt,
            "give the target the settings `checked` in Package.swift: it may read foreign bytes")
        #expect(manifest.contains(/name: "pushfarm"[\s\S]*?swiftSettings: checked/))
    }

    /// Finds `first!`, `try!`, `uniqueKeysWithValues` and similar forms, which the compiler accepts. `make lint` finds them
    /// too.
    @Test func `no code unwraps a value that foreign bytes may lack`() throws {
        let rule = #/\.(?:first|last|min\(\)|max\(\)|popLast\(\))!|\btry!|uniqueKeysWithValues/#
        let place = Self.package + "/Sources"
        let files = try FileManager.default.subpathsOfDirectory(atPath: place).filter {
            $0.hasSuffix(".swift")
        }
        #expect(files.count > 500)
        for file in files {
            let text = try String(contentsOfFile: place + "/" + file, encoding: .utf8)
            for match in text.matches(of: rule) {
                Issue.record(
                    "Sources/\(file): \(match.0) ends the process when there is nothing, or twice the same; use guard let, or Dictionary(_:uniquingKeysWith:)"
                )
            }
        }
    }
}
