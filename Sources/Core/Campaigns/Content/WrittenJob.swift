import PushModel

/// The text of a job that is made of parts of a definition, and where each part came from.
struct WrittenJob {
    private struct Copy {
        /// The range in the job's text.
        let range: Range<Int>
        /// The offset in the definition.
        let source: Int
    }

    var text = JSONText()
    private let definition: [UInt8]
    private var copies: [Copy] = []

    init(definition: [UInt8]) { self.definition = definition }

    /// Writes a field with a value of the definition as it stands.
    mutating func copy(_ field: CampaignField, _ range: Range<Int>) {
        text.key(field.rawValue)
        let start = text.bytes.count
        text.value(json: definition[range])
        copies.append(Copy(range: start..<text.bytes.count, source: range.lowerBound))
    }

    /// Converts an error of the job to an error of the definition.
    ///
    /// - Parameter isFallback: whether the job has the payload of `fallback`.
    func refusal(_ error: JobError, isFallback: Bool, id: String?) -> CampaignError {
        let message = copies.first?.source ?? 0
        let (prefix, payload) = isFallback ? ("fallback.", "fallback.payload") : ("", "payload")
        guard !error.field.hasPrefix("pushes") else {
            return CampaignError(
                field: payload, position: message, reason: Self.reason(ofPush: error), id: id)
        }
        let field =
            error.field == "payload" || error.field.hasPrefix("translations")
            ? prefix + error.field : error.field
        let copy = copies.first { $0.range.contains(error.position) || $0.range.upperBound == error.position }
        return CampaignError(
            field: field, position: copy.map { error.position - $0.range.lowerBound + $0.source } ?? message,
            reason: error.reason, id: id)
    }

    /// The reason for a fault of the made-up push.
    private static func reason(ofPush error: JobError) -> String {
        let values = "pushes[0].values."
        if error.field.hasPrefix(values) {
            let name = error.field.dropFirst(values.count)
            return
                "a device may have no \"\(name)\"; give its placeholder a default, as in {{\(name)|there}}"
        }
        if error.field == "pushes[0].lang" {
            return "\"translations\" needs \"default\", for devices of other languages and without a language"
        }
        return error.reason
    }
}
