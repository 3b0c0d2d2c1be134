import PushModel
import Testing

@testable import Simulator

@Suite struct DelayLineTests {
    @Test func `answers come at their times, those of one time in the order in which they began to wait`() {
        var random = SeededRandom(seed: 5)
        var line = DelayLine()
        #expect(line.nextDue == nil && line.takeDue(.max) == nil)
        var expected: [UInt64: [Int32]] = [:]
        for stream in Int32(0)..<2000 {
            let due = 100 + random.next() % 50
            expected[due, default: []].append(stream)
            line.add(
                DelayLine.Waiting(
                    connection: 1, stream: stream, reply: .accepted, id: EchoedID(random: &random)), due: due)
        }
        for due in expected.keys.sorted() {
            #expect(line.nextDue == due && line.takeDue(due - 1) == nil)
            #expect(line.takeDue(due)?.map(\.stream) == expected[due])
        }
        #expect(line.nextDue == nil && line.takeDue(.max) == nil)
    }

    @Test
    func `what is added while others wait is in its place, and late ones come one time after the other`() {
        var random = SeededRandom(seed: 6)
        var line = DelayLine()
        for due: UInt64 in [30, 10, 20, 10, 5] {
            let waiting = DelayLine.Waiting(
                connection: Int64(due), stream: 1, reply: .accepted, id: EchoedID(random: &random))
            line.add(waiting, due: due)
            #expect(line.nextDue.map { $0 <= due } == true)
        }
        var rows: [[Int64]] = []
        while let row = line.takeDue(25) { rows.append(row.map(\.connection)) }
        #expect(rows == [[5], [10, 10], [20]] && line.nextDue == 30)
    }
}
