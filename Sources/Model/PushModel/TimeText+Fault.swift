extension TimeText {
    /// Why a text is no duration or no moment.
    package enum Fault: Error, Equatable, CustomStringConvertible {
        /// It looks like neither.
        case form
        case negative
        case noUnit(number: Substring)
        case unit(name: Substring)
        case order
        case tooLong
        case separator
        case date
        case tooEarly
        case timeOfDay
        case noZone
        case zone

        /// What is wrong, and what is right; nil when all that can be said is how the text has to look.
        package var advice: String? {
            switch self {
            case .form: nil
            case .negative: "a duration is not negative"
            case .noUnit(let number): "\(number) needs a unit: d, h, m, s or ms"
            case .unit(let name): "there is no unit \(name): d, h, m, s or ms"
            case .order: "each unit is given once, the longer one first, as in 1h30m"
            case .tooLong: "a duration is at most a thousand years"
            case .separator: "date and time are joined by a T, as in 2026-05-01T10:00:00Z"
            case .date: "there is no such day"
            case .tooEarly: "a time is not before 1970"
            case .timeOfDay: "the time of day is like 10:00 or 10:00:00"
            case .noZone: "a time needs a time zone, such as Z or +02:00"
            case .zone: "a time zone is like Z or +02:00"
            }
        }

        package var description: String { advice ?? "it is neither a duration nor a time" }
    }
}
