import PushModel
import Testing

@testable import Simulator

@Suite struct DelayLineTests {
    @Test func `responses leave at their due times, and in order of arrival at equal times`() {
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
    func `an added response gets its place by time, and overdue times are taken one by one`() {
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
