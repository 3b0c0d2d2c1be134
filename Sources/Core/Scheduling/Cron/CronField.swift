/// A field of a cron expression.
package enum CronField: String, CaseIterable, Hashable, Sendable {
    case minute
    case hour
    case dayOfMonth = "day of the month"
    case month
    case weekday = "day of the week"

    /// The numbers that an expression may use. In the day of the week, 0 and 7 are Sunday.
    package var range: ClosedRange<Int> {
        switch self {
        case .minute: 0...59
        case .hour: 0...23
        case .dayOfMonth: 1...31
        case .month: 1...12
        case .weekday: 0...7
        }
    }

    /// The names of the numbers, from the least number on.
    package var names: [String] {
        switch self {
        case .minute, .hour, .dayOfMonth: []
        case .month:
            ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
        case .weekday: ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]
        }
    }
}

/// The values of a field that an expression selects.
struct CronValues: Hashable, Sendable {
    /// Bit n is set if the value n is selected. Sunday is 0.
    private var bits: UInt64 = 0
    /// Whether the expression selects only some values of the field.
    private(set) var isRestricted = true

    func contains(_ value: Int) -> Bool { bits & Self.bit(value) != 0 }

    /// Returns the least selected value that is at least `value`.
    func first(from value: Int) -> Int? {
        guard value < 64 else { return nil }
        let rest = bits & (UInt64.max << UInt64(max(0, value)))
        return rest == 0 ? nil : rest.trailingZeroBitCount
    }

    private static func bit(_ value: Int) -> UInt64 { (0..<64).contains(value) ? 1 << UInt64(value) : 0 }

    /// Reads the text of a field, such as `*/15`, `1,15`, `mon-fri` or `10-50/20`.
    /// - Parameter position: the offset of the text in the expression.
    init(_ text: Substring, of field: CronField, at position: Int) throws(CronError) {
        var offset = position
        for item in text.split(separator: ",", omittingEmptySubsequences: false) {
            let reader = CronItem(text: item, field: field, position: offset)
            for value in try reader.values() {
                bits |= Self.bit(field == .weekday && value == 7 ? 0 : value)
            }
            offset += item.utf8.count + 1
        }
        let all = field == .weekday ? 0...6 : field.range
        isRestricted = !all.allSatisfy(contains)
    }
}

/// One element of a field's list.
private struct CronItem {
    let text: Substring
    let field: CronField
    let position: Int

    func values() throws(CronError) -> StrideThrough<Int> {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count <= 2 else { throw error(.form) }
        var step = 1
        if parts.count == 2 {
            guard let number = Int(foreign: parts[1]), parts[1].first?.isNumber == true, number > 0 else {
                throw error(.step)
            }
            step = number
        }
        if parts[0] == "*" {
            return stride(from: field.range.lowerBound, through: last, by: step)
        }
        let ends = parts[0].split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count <= 2 else { throw error(.form) }
        let first = try value(ends[0])
        guard ends.count == 2 else {
            guard parts.count == 1 else { throw error(.stepWithoutRange) }
            return stride(from: first, through: first, by: 1)
        }
        var end = try value(ends[1])
        // In a range such as sat-sun, Sunday is day 7.
        if field == .weekday, end == 0, first > 0 { end = 7 }
        guard first <= end else { throw error(.descends) }
        return stride(from: first, through: end, by: step)
    }

    /// The greatest value of the field. The day of the week ends with 6, because 7 means Sunday, as 0 does.
    private var last: Int { field == .weekday ? 6 : field.range.upperBound }

    private func value(_ text: Substring) throws(CronError) -> Int {
        if let index = field.names.firstIndex(of: text.lowercased()) { return field.range.lowerBound + index }
        guard !text.isEmpty else { throw error(.form) }
        guard text.first?.isNumber == true else { throw error(.name) }
        guard let number = Int(foreign: text), field.range.contains(number) else { throw error(.number) }
        return number
    }

    private func error(_ fault: CronError.Fault) -> CronError {
        CronError(field: field, text: String(text), position: position, fault: fault)
    }
}
