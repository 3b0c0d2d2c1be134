import Testing

@testable import pushfarm

struct CommandWordsTests {
    @Test(arguments: [
        (["scale", "-1", "--host", "a"], ["scale", "--host", "a", "--", "-1"]),
        (["scale", "--host", "a", "--", "-1"], ["scale", "--host", "a", "--", "-1"]),
        (["scale", "+1"], ["scale", "+1"]), (["status", "-1"], ["status", "-1"]), ([], []),
    ])
    func `a step down is a number`(words: [String], arranged: [String]) {
        #expect(CommandWords.arranged(words) == arranged)
    }

    @Test func `a command that is none is said to be none, with the nearest one`() {
        #expect(CommandWords.complaint(["statu"]) == "there is no command statu; did you mean status?")
        #expect(
            CommandWords.complaint(["log_level"]) == "there is no command log_level; did you mean log-level?")
        #expect(
            CommandWords.complaint(["deliver"]) == "there is no command deliver; pushfarm --help lists all")
        for words in [["status"], ["bad", "list"], ["help"], ["--version"], ["-h"], []] {
            #expect(CommandWords.complaint(words) == nil)
        }
    }
}
