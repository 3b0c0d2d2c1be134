import Testing

@testable import pushfarm

struct UnknownOptionTests {
    @Test(arguments: [
        ("push --alrt Hello", "--alrt", "--alert"), ("push --alrt=Hello --token 00", "--alrt", "--alert"),
        ("dead drop --reson x", "--reson", "--reason"),
        ("screen --tokens-fil x", "--tokens-fil", "--tokens-file"),
        ("campaigns create --strt x", "--strt", "--start"), ("lists upload --nam l x", "--nam", "--name"),
    ])
    func `a misspelt option is named before an option that is missing`(
        line: String, option: String, meant: String
    ) async throws {
        let result = try await ProgramRun.run(line.split(separator: " ").map(String.init))
        #expect(result.status == 2 && result.output.isEmpty)
        #expect(
            result.error.hasPrefix("Error: Unknown option '\(option)'. Did you mean '\(meant)'?\nUsage: "),
            "\(result)")
    }

    @Test(arguments: [
        "push --alert Hello", "jobs --json --limit 3", "debug fsck --repair", "push -- --alrt", "help",
        "campaigns plan -",
        "push --alert=--x --token 00",
    ])
    func `a command line without a misspelt option has no problem`(line: String) {
        #expect(UnknownOption.problem(line.split(separator: " ").map(String.init)) == nil)
    }
}
