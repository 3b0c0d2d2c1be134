import FarmHarness
import Testing

@testable import pushfarm

/// Checks files of tokens that are read in chunks.
struct TokenChunksTests {
    private func read(_ file: String, size: Int, portion: Int = TokenChunks.portion) throws -> (
        chunks: [TokenChunks.Chunk], duplicates: Int
    ) {
        var chunks = TokenChunks(file: file, survey: try TokenSurvey.of(file), size: size, portion: portion)
        var all: [TokenChunks.Chunk] = []
        while let chunk = try chunks.next() { all.append(chunk) }
        return (all, chunks.duplicates)
    }

    @Test(arguments: [
        ("", ScreenedLine.empty), ("   ", .empty), ("# a remark", .empty),
        ("00112233445566FF", .token([0, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0xFF])),
        (
            "  0011223344556677 Unregistered 1700000000",
            .token([0, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77])
        ),
    ])
    func `a line is a token or empty`(text: String, line: ScreenedLine) {
        #expect(ScreenedLine(text[...]) == line)
    }

    @Test(arguments: ["0011", "00112233445566f", "zz112233445566ff", "<0011223344556677>"])
    func `a malformed line has a reason`(text: String) {
        guard case .malformed(let reason) = ScreenedLine(text[...]) else {
            Issue.record("\(text) is taken for a token")
            return
        }
        #expect(!reason.isEmpty)
    }

    @Test func `tokens come once in file order and malformed lines are named`() throws {
        let folder = try TestFolder()
        let tokens = Tokens.make(25)
        var lines = tokens
        lines.insert("nonsense", at: 3)
        lines.insert("", at: 4)
        lines.insert(tokens[1].uppercased(), at: 20)
        lines.append(tokens[0])
        let file = try folder.write(lines.joined(separator: "\r\n"), to: "t")
        let survey = try TokenSurvey.of(file)
        #expect(survey.tokens == 27 && survey.malformedCount == 1 && survey.malformed.map(\.line) == [4])
        let (chunks, duplicates) = try read(file, size: 10)
        #expect(chunks.map(\.number) == [0, 1, 2] && chunks.map(\.tokens.count) == [10, 10, 5])
        #expect(chunks.flatMap(\.tokens) == tokens && duplicates == 2)
    }

    @Test func `a long file is read in parts with each token once`() throws {
        let folder = try TestFolder()
        let tokens = Tokens.make(400)
        let file = try folder.write((tokens + tokens.reversed()).joined(separator: "\n") + "\n", to: "t")
        let (chunks, duplicates) = try read(file, size: 12, portion: 120)
        #expect(duplicates == 400)
        #expect(chunks.flatMap(\.tokens).sorted() == tokens.sorted())
        #expect(chunks.map(\.number) == Array(chunks.indices))
        #expect(try read(file, size: 12, portion: 120).chunks == chunks)
    }

    @Test(arguments: ["", "\n\n", "# nothing\n"]) func `an empty file has no chunk`(text: String) throws {
        let folder = try TestFolder()
        let (chunks, duplicates) = try read(try folder.write(text, to: "t"), size: 10)
        #expect(chunks.isEmpty && duplicates == 0)
    }

    @Test func `a file that changes during the read is detected`() throws {
        let folder = try TestFolder()
        let file = try folder.write(Tokens.make(5).joined(separator: "\n"), to: "t")
        var chunks = TokenChunks(file: file, survey: try TokenSurvey.of(file), size: 10)
        try folder.write(Tokens.make(5, seed: 2).joined(separator: "\n"), to: "t")
        // `chunks` is noncopyable, so the closure of `#expect(throws:)` cannot use `chunks`.
        var message: String?
        do throws(CommandFailure) { _ = try chunks.next() } catch { message = error.message }
        #expect(message?.contains("was changed") == true)
    }
}
