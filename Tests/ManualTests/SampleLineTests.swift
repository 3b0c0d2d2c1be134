import Testing

@testable import Manual

struct SampleLineTests {
    @Test(arguments: [
        (
            "redis: redis://h:1/0     # or unix",
            SampleLine.entry(
                indent: 0, key: "redis", value: "redis://h:1/0", remark: "or unix")
        ),
        ("# shards: 64", .entry(indent: 0, key: "shards", value: "64", remark: "")),
        (
            "    # gateway: https://a:443   # follows",
            .entry(
                indent: 4, key: "gateway", value: "https://a:443", remark: "follows")
        ),
        (
            "    #     command: 2   # with #1 of",
            .entry(
                indent: 8, key: "command", value: "2", remark: "with #1 of")
        ),
        ("    #   binary:", .entry(indent: 6, key: "binary", value: "", remark: "")),
        ("# or a certificate: that", .prose("or a certificate: that")),
        ("# Relative paths", .prose("Relative paths")), ("    #", .empty), ("", .empty),
    ])
    func `a sample line is a key, prose or empty`(text: String, line: SampleLine) {
        #expect(SampleLine(text) == line)
    }
}
