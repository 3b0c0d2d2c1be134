/// Reads those fields of a job that are numbers or strings, and checks the type and range of their values.
struct JobFields {
    let envelope: JobEnvelope
    private var bytes: UnsafeRawBufferPointer { envelope.bytes }

    init(_ envelope: JobEnvelope) { self.envelope = envelope }

    /// The text of a string field; nil if the field is absent.
    func text(_ field: JobField, mustBe what: String) throws(JobError) -> String? {
        guard let value = envelope[field] else { return nil }
        guard let text = string(value) else { throw error(field, mustBe: what) }
        return text
    }

    /// The number of a field, which must be whole and in `range`; nil if the field is absent.
    func integer(
        _ field: JobField, in range: ClosedRange<Int64>, mustBe what: @autoclosure () -> String
    ) throws(JobError) -> Int64? {
        guard let value = envelope[field] else { return nil }
        guard value.kind == .number, let number = JSONScanner(bytes).integer(in: value.range),
            range.contains(number)
        else { throw error(field, mustBe: what()) }
        return number
    }

    /// The time in a field, in Unix seconds; nil if the field is absent. The job contains a number, or a time in ISO 8601.
    func time(_ field: JobField) throws(JobError) -> Int64? {
        let what = "a time in whole Unix seconds, or like \"2026-05-01T10:00:00Z\""
        if let value = envelope[field], value.kind == .string {
            let moment: Int64
            do throws(TimeText.Fault) { moment = try TimeText.readMoment(string(value) ?? "") } catch {
                throw self.error(field, mustBe: what + (error.advice.map { " (\($0))" } ?? ""))
            }
            guard moment >= 0, moment / 1000 <= JobLimits.lastSecond else { throw error(field, mustBe: what) }
            return moment / 1000
        }
        if let value = envelope[field], value.kind == .number,
            let number = JSONScanner(bytes).integer(in: value.range), number > JobLimits.lastSecond
        {
            throw error(field, mustBe: "a time in Unix seconds (not milliseconds)")
        }
        return try integer(field, in: 0...JobLimits.lastSecond, mustBe: what)
    }

    /// The duration in a field, in seconds; nil if the field is absent. The job contains a number, or a text such as `1h`.
    func duration(_ field: JobField, upTo longest: Int64) throws(JobError) -> Int64? {
        let what =
            "whole seconds from 0 to \(longest) (a year), or a duration like \"90s\", \"15m\" or \"1h\""
        guard let value = envelope[field], value.kind == .string else {
            return try integer(field, in: 0...longest, mustBe: what)
        }
        let time: Int64
        do throws(TimeText.Fault) { time = try TimeText.readDuration(string(value) ?? "") } catch {
            throw self.error(field, mustBe: what + (error.advice.map { " (\($0))" } ?? ""))
        }
        guard time % 1000 == 0, time / 1000 <= longest else { throw error(field, mustBe: what) }
        return time / 1000
    }

    /// The value of a field that allows only certain words; nil if the field is absent.
    func word<T>(_ field: JobField, among words: @autoclosure () -> [String], _ make: (String) -> T?)
        throws(JobError) -> T?
    {
        guard let value = envelope[field] else { return nil }
        if let text = string(value), let word = make(text) { return word }
        let quoted = words().map { "\"\($0)\"" }
        let what = quoted.dropLast().joined(separator: ", ") + " or " + (quoted.last ?? "")
        throw error(field, mustBe: what)
    }

    /// Creates the error for a value that the field does not allow.
    func error(_ field: JobField, mustBe what: String) -> JobError {
        guard let value = envelope[field] else {
            return JobError(
                field: name(field), position: envelope.start, reason: "\"\(name(field))\" must be \(what)")
        }
        var found = "\(value.kind.rawValue)"
        if value.kind != .object, value.kind != .array {
            found = Excerpt.of(UnsafeRawBufferPointer(rebasing: bytes[value.range]))
        }
        if value.kind == .null { found = "null; leave the field out for its default" }
        return error(field, "\"\(name(field))\" must be \(what); this is \(found)")
    }

    func error(_ field: JobField, _ reason: String) -> JobError {
        JobError(
            field: name(field), position: envelope[field]?.range.lowerBound ?? envelope.start, reason: reason)
    }

    /// The field's name with its path, such as `ttl` or `pushes[3].ttl`.
    func name(_ field: JobField) -> String { envelope.path + field.name }

    func isText(_ field: JobField) -> Bool { envelope[field]?.kind == .string }

    private func string(_ value: JobEnvelope.Value) -> String? {
        guard value.kind == .string else { return nil }
        var scanner = JSONScanner(bytes, position: value.range.lowerBound, depth: 1)
        guard let string = try? scanner.string() else { return nil }
        return scanner.text(string)
    }
}
