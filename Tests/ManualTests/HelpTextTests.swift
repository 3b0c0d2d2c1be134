import Testing

@testable import Manual

struct HelpTextTests {
    @Test func `prose is joined, examples keep their lines, and both are separated`() {
        let text = HelpText(
            """
            It does a thing,
            and more.

            Example:
              pushfarm thing
              pushfarm thing --twice

            Status 1 when not.

            Exit status: 0 done, 1
            failed.
            """)
        #expect(text.description == [.prose("It does a thing, and more."), .prose("Status 1 when not.")])
        #expect(text.examples == [.literal(["pushfarm thing", "pushfarm thing --twice"])])
        #expect(text.status == [.prose("0 done, 1 failed.")])
    }

    @Test func `lines with columns are not joined`() {
        let table = ["goaway N      after N requests", "silence 5%    no answer"]
        #expect(HelpText(table.joined(separator: "\n")).description == [.literal(table)])
    }

    @Test func `an empty line may separate an example from its heading`() {
        let text = HelpText("Example:\n\n  pushfarm thing\n\nMore.")
        #expect(text.examples == [.literal(["pushfarm thing"])] && text.description == [.prose("More.")])
    }
}
