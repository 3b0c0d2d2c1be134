import Testing

@testable import HTTP2

struct SharedFieldsTests {
    @Test func `fields that two connections share are encoded for the table of each`() {
        let (gone, throttled) = (
            HeaderBlock([.fixed(":status", "410")]), HeaderBlock([.fixed(":status", "429")])
        )
        var (first, second) = (HeaderTable(), HeaderTable())
        for block in [gone, throttled] { _ = block.shared.encoded(for: &first) }
        for block in [throttled, gone] { _ = block.shared.encoded(for: &second) }
        // In the dynamic table the newest entry has the index 62, and the second newest entry has the index 63.
        for _ in 0..<2 {
            #expect(gone.shared.encoded(for: &first).front == [0x80 | 63])
            #expect(gone.shared.encoded(for: &second).front == [0x80 | 62])
        }
    }
}
