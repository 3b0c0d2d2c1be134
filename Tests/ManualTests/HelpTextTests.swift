import Testing

@testable import Manual

struct HelpTextTests {
    @Test func `prose is one line, an example stands as it is, and each has its section`() {
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

    @Test func `columns are not refilled`() {
        let table = ["goaway N      after N requests", "silence 5%    no answer"]
        #expect(HelpText(table.joined(separator: "\n")).description == [.literal(table)])
    }

    @Test func `an example may stand apart from its word`() {
        let text = HelpText("Example:\n\n  pushfarm thing\n\nMore.")
        #expect(text.examples == [.literal(["pushfarm thing"])] && text.description == [.prose("More.")])
    }
}
