import BinaryBench
import Testing

/// Runs historic senders against a gateway model. The model delays its replies by a number of pushes, not by a time.
struct HistoricCourseTests {
    /// A gateway that discards all pushes after the first refused push of a connection, and closes the connection
    /// `delay` pushes later.
    private struct Gateway {
        let bad: Set<Int>
        let delay: Int
        /// Whether the sender's last wait for a reply ends before the reply arrives.
        var isLateAtTheEnd = false
        /// The places of accepted pushes. If a push is accepted twice, its place is in the list twice.
        private(set) var accepted: [Int] = []
        private(set) var connections = 0
        private var culprit: Int?
        private var since = 0

        init(bad: Set<Int>, delay: Int) { (self.bad, self.delay) = (bad, delay) }

        mutating func run(_ habit: ReadingHabit, count: Int) -> HistoricCourse {
            var course = HistoricCourse(count: count, habit: habit)
            for _ in 0..<100_000 {
                switch course.next() {
                case .connect: (culprit, since, connections) = (nil, 0, connections + 1)
                case .write(let index):
                    guard !isClosed else {
                        course.failed()
                        continue
                    }
                    take(index)
                case .readReplies(let timeout):
                    let isSeen = isClosed || timeout > .zero && !isLateAtTheEnd
                    if let culprit, isSeen { course.refused(culprit) }
                case .done: return course
                }
            }
            Issue.record("it does not end")
            return course
        }

        private var isClosed: Bool { culprit != nil && since > delay }

        private mutating func take(_ index: Int) {
            if culprit != nil {
                since += 1
            } else if bad.contains(index) {
                (culprit, since) = (index, 1)
            } else {
                accepted.append(index)
            }
        }
    }

    @Test func `a sender that never reads loses pushes until a write fails and counts them as sent`() {
        // The sender noticed the bad token at place 20 with push 123, so the pushes 21 to 123 were lost.
        var gateway = Gateway(bad: [19], delay: 103)
        let course = gateway.run(.naive, count: 1_000)
        #expect(gateway.accepted == Array(0..<19) + Array(123..<1_000))
        #expect(course.sent == 1_000 && course.refused == 0 && gateway.connections == 2)
    }

    @Test func `a sender that never reads loses all later pushes when its list ends first`() {
        var gateway = Gateway(bad: [19], delay: 5_000)
        let course = gateway.run(.naive, count: 1_000)
        #expect(gateway.accepted.count == 19 && course.sent == 1_000 && gateway.connections == 1)
    }

    @Test(arguments: [ReadingHabit.every(100), .every(500), .waiting], [1, 40, 250, 5_000])
    func `a sender that resumes after each refused push and sees every reply loses no push`(
        habit: ReadingHabit, delay: Int
    ) {
        var gateway = Gateway(bad: [0, 19, 20, 500, 998, 999], delay: delay)
        let course = gateway.run(habit, count: 1_000)
        #expect(gateway.accepted == (0..<1_000).filter { !gateway.bad.contains($0) })
        #expect(course.sent == 994 && course.refused == 6)
        // The last push is bad, so the sender opens no connection after it.
        #expect(gateway.connections == 6)
    }

    @Test func `a last wait that is too short loses the pushes after the last refusal`() {
        var gateway = Gateway(bad: [19, 700], delay: 450)
        gateway.isLateAtTheEnd = true
        let course = gateway.run(.every(100), count: 1_000)
        #expect(gateway.accepted == (0..<700).filter { $0 != 19 })
        #expect(course.sent == 999 && course.refused == 1)
    }

    @Test func `a shutdown reply names the last accepted push, so no push is lost`() {
        var course = HistoricCourse(count: 3, habit: .every(2))
        #expect([course.next(), course.next(), course.next()] == [.connect, .write(0), .write(1)])
        #expect(course.next() == .readReplies(.zero))
        course.accepted(upTo: 0)
        #expect([course.next(), course.next(), course.next()] == [.connect, .write(1), .write(2)])
        #expect(course.sent == 3 && course.refused == 0)
    }

    @Test func `after a lost connection the sender continues at the same index`() {
        var course = HistoricCourse(count: 2, habit: .waiting)
        #expect([course.next(), course.next()] == [.connect, .write(0)])
        #expect(course.next() == .readReplies(.milliseconds(500)))
        course.lost()
        #expect([course.next(), course.next()] == [.connect, .write(1)])
        course.failed()
        #expect([course.next(), course.next(), course.next()] == [.readReplies(.zero), .connect, .write(1)])
        #expect([course.next(), course.next()] == [.readReplies(.milliseconds(500)), .done])
    }
}
