import Testing

@testable import StoreProtocol

@Suite struct PositionRunsTests {
    @Test func `adjacent runs are merged`() {
        var runs = PositionRuns()
        for position in [0, 1, 2, 5, 6, 300] { runs.append(position) }
        runs.append(301..<304)
        runs.append(304..<304)
        #expect(runs.bytes == [0, 1, 0, 3, 0, 6, 0, 7, 1, 45, 1, 48])
        #expect(runs.count == 9)
        runs.removeAll()
        runs.append(0)
        #expect(runs.bytes == [0, 1, 0, 1] && !runs.isEmpty)
    }
}
