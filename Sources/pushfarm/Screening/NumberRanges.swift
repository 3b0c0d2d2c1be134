/// Numbers from 0, kept as ranges: few, when they come nearly in order.
struct NumberRanges: Equatable, Sendable {
    private(set) var ranges: [ClosedRange<Int>] = []

    init() {}

    func contains(_ number: Int) -> Bool {
        let index = place(of: number)
        return index < ranges.count && ranges[index].contains(number)
    }

    mutating func insert(_ number: Int) {
        var index = place(of: number)
        if index < ranges.count, ranges[index].contains(number) { return }
        var added = number...number
        if index < ranges.count, ranges[index].lowerBound == number + 1 {
            added = number...ranges.remove(at: index).upperBound
        }
        if index > 0, ranges[index - 1].upperBound == number - 1 {
            index -= 1
            added = ranges.remove(at: index).lowerBound...added.upperBound
        }
        ranges.insert(added, at: index)
    }

    /// Of the first range that does not end before `number`.
    private func place(of number: Int) -> Int {
        var (low, high) = (0, ranges.count)
        while low < high {
            let middle = (low + high) / 2
            if ranges[middle].upperBound < number { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

extension NumberRanges: LosslessStringConvertible {
    /// `0-17 19 22-23`.
    var description: String {
        ranges.map { $0.count == 1 ? "\($0.lowerBound)" : "\($0.lowerBound)-\($0.upperBound)" }
            .joined(separator: " ")
    }

    init?(_ text: String) {
        for word in text.split(separator: " ") {
            let ends = word.split(separator: "-", omittingEmptySubsequences: false).map { Int(foreign: $0) }
            guard ends.count <= 2, let first = ends[0], let last = ends[ends.count - 1], first >= 0,
                first <= last, ranges.last.map({ $0.upperBound + 1 < first }) ?? true
            else { return nil }
            ranges.append(first...last)
        }
    }
}
