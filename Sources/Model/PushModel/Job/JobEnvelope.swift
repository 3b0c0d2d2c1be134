/// The fields of a job, or of one push, with the position of each field's value.
/// To read a job's bytes only once, ``read(tokens:)`` finds the fields and decodes the array `tokens` at the same time.
struct JobEnvelope {
    /// The value of a field, not parsed yet.
    struct Value {
        let kind: JSONKind
        let range: Range<Int>
    }

    let bytes: UnsafeRawBufferPointer
    private let limits: JobLimits
    private var values = [Value?](repeating: nil, count: JobField.allCases.count)
    /// The field whose value is being read.
    private var current: JobField?
    private(set) var start = 0
    /// The offset of the name of the last read field that has the job's recipients.
    private(set) var recipientsStart = 0
    /// The text that precedes a field's name in errors, such as `pushes[3].`; empty for the fields of the job itself.
    let path: String

    init(_ bytes: UnsafeRawBufferPointer, limits: JobLimits) {
        self.bytes = bytes
        self.limits = limits
        path = ""
    }

    /// Creates an empty envelope for one push. The caller adds the push's fields with ``add(_:_:_:)``.
    init(ofPush index: Int, at start: Int, _ bytes: UnsafeRawBufferPointer, limits: JobLimits) {
        self.bytes = bytes
        self.limits = limits
        self.start = start
        path = "pushes[\(index)]."
    }

    mutating func add(_ field: JobField, _ kind: JSONKind, _ range: Range<Int>) {
        values[field.rawValue] = Value(kind: kind, range: range)
    }

    subscript(field: JobField) -> Value? { values[field.rawValue] }

    /// Finds all fields of the job, and reads the array of the field `tokens` into the parameter `tokens`.
    ///
    /// Throws an error if the job is not one JSON object, or if a field is unknown or occurs twice.
    mutating func read(tokens: inout TokenList) throws(JobError) {
        let fault: JobError?
        do throws(JSONError) { fault = try scan(&tokens) } catch {
            fault = JobError(
                field: current?.name ?? "job", position: error.position,
                reason: "the job is not valid JSON: \(error.description)")
        }
        if let fault { throw fault }
    }

    /// Finds the fields. Throws an error if the job is not valid JSON.
    /// - Returns: the first other fault of the job; nil if there is none.
    private mutating func scan(_ tokens: inout TokenList) throws(JSONError) -> JobError? {
        var scanner = JSONScanner(bytes)
        try scanner.start()
        start = scanner.position
        let kind = try scanner.kind()
        guard kind == .object else {
            return JobError(
                field: "job", position: start, reason: "a job must be a JSON object; this is \(kind.rawValue)"
            )
        }
        try scanner.enterObject()
        while let key = try scanner.nextKey() {
            let name = scanner.text(key)
            guard let field = JobField(name: name) else { return unknown(name, at: key) }
            guard self[field] == nil else {
                return JobError(
                    field: field.name, position: key.content.lowerBound - 1,
                    reason: "\"\(field.name)\" is given twice")
            }
            current = field
            if JobField.recipients.contains(field) { recipientsStart = key.content.lowerBound - 1 }
            if let error = try scanValue(field, &scanner, &tokens) { return error }
            current = nil
        }
        try scanner.end()
        return nil
    }

    private mutating func scanValue(
        _ field: JobField, _ scanner: inout JSONScanner, _ tokens: inout TokenList
    ) throws(JSONError) -> JobError? {
        let kind = try scanner.kind()
        let start = scanner.position
        if field == .tokens, kind == .array {
            guard try tokens.readArray(&scanner, limit: limits.tokens) else {
                return JobError(
                    field: field.name, position: scanner.position,
                    reason:
                        "a job may have at most \(limits.tokens) tokens; send the other tokens in further jobs"
                )
            }
        } else {
            _ = try scanner.skipValue()
        }
        values[field.rawValue] = Value(kind: kind, range: start..<scanner.position)
        return nil
    }

    private func unknown(_ name: String, at key: JSONString) -> JobError {
        let name = Excerpt.of(name)
        return JobError(
            field: name.isEmpty ? "job" : name, position: key.content.lowerBound - 1,
            reason: "there is no field \"\(name)\"; \(JobField.advice(for: name))")
    }
}
