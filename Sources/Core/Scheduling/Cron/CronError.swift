/// Why a text is not a cron expression, with the field that is wrong.
package struct CronError: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Fault: Hashable, Sendable {
        /// The text has this number of fields; an expression has five fields.
        case fields(Int)
        case tooLong
        case form
        case number
        case name
        case step
        case stepWithoutRange
        case descends
        /// None of the selected months has any of the selected days, as in 30 February.
        case impossibleDate
    }

    /// Nil if the fault concerns the whole expression.
    package let field: CronField?
    /// The wrong element of the field's list.
    package let text: String
    /// The offset of ``text`` in the expression in bytes.
    package let position: Int
    package let fault: Fault

    /// The fault as a sentence: `hour "25": a number from 0 to 23 is needed`.
    package var description: String {
        guard let field else { return reason }
        return "\(field.rawValue) \"\(text)\": \(reason)"
    }

    private var reason: String {
        switch fault {
        case .fields(let count):
            "a cron expression has five fields (minute, hour, day of the month, month, day of the week), not \(count)"
        case .tooLong: "a cron expression has at most \(CronExpression.longest) characters"
        case .form:
            "write *, a number, a range like 1-5, or a list like 1,15; a range may have a step, like */15"
        case .number: "a number from \(bounds) is needed"
        case .name: "a number from \(bounds)\(names) is needed"
        case .step: "a step is a number above 0, like */15"
        case .stepWithoutRange: "a step needs a range, like 5-59/15"
        case .descends: "a range goes from the lower to the higher value"
        case .impossibleDate: "none of the months has such a day"
        }
    }

    private var bounds: String { field.map { "\($0.range.lowerBound) to \($0.range.upperBound)" } ?? "" }

    private var names: String {
        guard let names = field?.names, let first = names.first, let last = names.last else { return "" }
        return ", or a name from \(first) to \(last),"
    }
}
