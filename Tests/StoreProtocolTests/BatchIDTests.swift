import Testing

@testable import StoreProtocol

@Suite struct BatchIDTests {
    @Test(
        arguments: [
            ("07.h.6553f1000c350.12", 1_700_000_000_050), ("07.b.6553f1000c350.p3", 1_700_000_000_050),
            ("63.h.r1780000000123-4.1", 1_780_000_000_123), ("07.h.none.1", nil), ("07.h", nil), ("", nil),
            ("07.h.-1c6bf52634000.1", nil), ("07.h.r-8000000000000000-1.1", nil),
            ("07.h.1.2.-8000000000000000", nil), ("07.h.7fffffffffffffff.1", 281_474_976_710_656),
        ] as [(String, Int64?)])
    func `the id of a batch contains its creation time`(id: String, moment: Int64?) {
        #expect(BatchID(Array(id.utf8)).madeAt == moment)
    }
}
