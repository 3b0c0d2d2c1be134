import FarmHarness
import Foundation
import Testing

/// Checks the suggestions of bash after `--app`.
struct AppCompletionTests {
    @Test(arguments: [
        ["push", "--config", "FILE", "--app"], ["suppressed", "list", "--config", "FILE", "--app"],
        ["rate", "--config", "FILE"],
    ])
    func `the suggestions are the apps of the file in the command line`(words: [String]) async throws {
        let folder = try TestFolder()
        let file = try folder.write(
            """
            apps:
              demo: { topic: com.example.demo, key: { file: a.p8, id: ABC123DEFG, team: DEF123GHIJ } }
              shop: { topic: com.example.shop, key: { file: a.p8, id: ABC123DEFG, team: DEF123GHIJ } }

            """, to: "farm.yaml")
        let line = [BuiltProgram.path] + words.map { $0 == "FILE" ? file : $0 } + [""]
        let script = """
            eval "$('\(BuiltProgram.path)' --generate-completion-script bash)"
            COMP_WORDS=(\(line.map { "'\($0)'" }.joined(separator: " ")))
            COMP_CWORD=\(line.count - 1)
            COMP_LINE="${COMP_WORDS[*]}"
            COMP_POINT=${#COMP_LINE}
            _pushfarm pushfarm '' '\(line[line.count - 2])'
            printf '%s\\n' "${COMPREPLY[@]}"
            """
        let shell = try Child("bash", "bash", ["-c", script], in: folder.path)
        _ = try await shell.wait()
        let offered = shell.output.split(separator: "\n").map(String.init)
        #expect(offered.contains("demo") && offered.contains("shop"), "\(shell.output) \(shell.error)")
    }
}
