import Scheduling

/// When a round had sent to which devices: the marks keep two rounds apart for each device.
///
/// A mark says that all devices before a cursor got their push by a time. Marks ascend in both.
struct SendMarks: Equatable, Sendable {
    struct Mark: Equatable, Sendable {
        let cursor: SendCursor
        let time: UTCTime
    }

    /// When there are more marks than this number, each second mark is left out. The remaining marks are still true.
    static let most = 512

    private(set) var marks: [Mark] = []

    init() {}

    /// - Parameter marks: marks that ascend in cursor and time; others are left out.
    init(_ marks: some Sequence<Mark>) {
        for mark in marks { add(mark.cursor, at: mark.time) }
    }

    /// Notes that all devices before a cursor got their push by a time.
    mutating func add(_ cursor: SendCursor, at time: UTCTime) {
        if let last = marks.last {
            guard cursor > last.cursor, time >= last.time else { return }
            // A mark within the same tenth of a second replaces the last mark, so that fast rounds need few marks.
            if time.milliseconds - last.time.milliseconds < 100, marks.count > 1,
                time.milliseconds - marks[marks.count - 2].time.milliseconds < 100
            {
                marks.removeLast()
            }
        }
        marks.append(Mark(cursor: cursor, time: time))
        if marks.count > Self.most { thin(to: Self.most / 2) }
    }

    /// Leaves out marks, so that at most `count` remain. The last mark stays.
    mutating func thin(to count: Int) {
        while marks.count > max(1, count) {
            let isOdd = marks.count % 2
            marks = marks.enumerated().filter { $0.offset % 2 != isOdd }.map(\.element)
        }
    }

    /// The place up to which all devices had their push by a time; nil if all devices had it.
    func reached(by time: UTCTime) -> SendCursor? {
        guard let last = marks.last, last.time > time else { return nil }
        return marks.last { $0.time <= time }?.cursor ?? .start
    }

    /// The first time by which devices behind a cursor had their push; nil if there is none.
    func time(after cursor: SendCursor) -> UTCTime? { marks.first { $0.cursor > cursor }?.time }
}
