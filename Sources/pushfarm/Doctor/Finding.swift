/// What one check found.
struct Finding: Sendable {
    enum Grade: String, Sendable {
        case ok, warning, failed
        /// Not wrong, but not there: trying again may help.
        case unreachable
    }

    let check: String
    let grade: Grade
    let text: String
    /// What to do about it.
    let advice: String?

    init(_ check: String, _ grade: Grade, _ text: String, advice: String? = nil) {
        (self.check, self.grade, self.text, self.advice) = (check, grade, text, advice)
    }

    var json: JSONValue {
        .object([
            "check": .string(check), "grade": .string(grade.rawValue), "text": .string(text),
            "advice": .text(advice),
        ])
    }
}
