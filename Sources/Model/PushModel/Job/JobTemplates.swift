/// The templates of a job: one for the field `payload`, or one for each language of the field `translations`.
struct JobTemplates {
    /// The maximum number of translations.
    static let mostLanguages = 64
    private static let fallback = "default"

    private(set) var templates: [PayloadTemplate] = []
    /// The language of each element of `templates`, in lower case; empty if the job has `payload` and not `translations`.
    private var languages: [String] = []

    private let fields: JobFields
    private let check: PayloadCheck
    /// The names that placeholders may have; nil: any name.
    private let names: [String]?
    private var bytes: UnsafeRawBufferPointer { fields.envelope.bytes }

    private init(_ fields: JobFields, _ check: PayloadCheck, names: [String]?) {
        (self.fields, self.check, self.names) = (fields, check, names)
    }

    /// The templates of the job's `payload` or `translations`; nil if the job has neither.
    ///
    /// - Parameter names: the names that placeholders may have; nil: any name.
    static func read(
        _ fields: JobFields, _ check: PayloadCheck, names: [String]?
    ) throws(JobError) -> JobTemplates? {
        var read = JobTemplates(fields, check, names: names)
        if fields.envelope[.payload] != nil, fields.envelope[.translations] != nil {
            throw fields.error(
                .translations, "\"payload\" and \"translations\" exclude each other; give one of them")
        }
        if let payload = fields.envelope[.payload] {
            guard payload.kind == .object else { throw fields.error(.payload, mustBe: "a JSON object") }
            try read.add(payload.range, field: JobField.payload.name)
        } else if let translations = fields.envelope[.translations] {
            try read.readTranslations(translations)
        } else {
            return nil
        }
        return read
    }

    var hasLanguages: Bool { !languages.isEmpty }

    /// The index of the template for a language. For `de-AT`, this is the template of `de-at`, else of `de`, else of `default`;
    /// nil if the job has none of these.
    ///
    /// - Parameter language: nil if the push has no language, which selects `default`.
    func number(for language: String?) -> Int? {
        guard hasLanguages else { return 0 }
        var wanted = Self.plain(language ?? Self.fallback)
        while true {
            if let number = languages.firstIndex(of: wanted) { return number }
            guard let hyphen = wanted.lastIndex(of: "-") else { break }
            wanted = String(wanted[..<hyphen])
        }
        return languages.firstIndex(of: Self.fallback)
    }

    private static func plain(_ language: String) -> String {
        String(language.lowercased().map { $0 == "_" ? "-" : $0 })
    }

    private mutating func readTranslations(_ value: JobEnvelope.Value) throws(JobError) {
        guard value.kind == .object else {
            throw fields.error(.translations, mustBe: "an object such as {\"de\": {…}, \"default\": {…}}")
        }
        let entries: [(name: String, position: Int, payload: Range<Int>?)]
        do throws(JSONError) { entries = try members(at: value.range.lowerBound) } catch {
            throw JobError(
                field: JobField.translations.name, position: error.position,
                reason: "the job is not valid JSON: \(error.description)")
        }
        for entry in entries {
            let field = JobField.translations.name + "." + Excerpt.of(entry.name)
            func fault(_ reason: String) -> JobError {
                JobError(field: field, position: entry.position, reason: "\"\(field)\" \(reason)")
            }
            guard JobLimits.isLanguage(entry.name) else {
                throw fault("must be named after a language such as \"de\" or \"pt-BR\", or \"default\"")
            }
            guard languages.count < Self.mostLanguages else {
                throw fields.error(
                    .translations, "\"translations\" may have at most \(Self.mostLanguages) languages")
            }
            let language = Self.plain(entry.name)
            guard !languages.contains(language) else { throw fault("is given twice") }
            guard let payload = entry.payload else { throw fault("must be a JSON object") }
            try add(payload, field: field)
            languages.append(language)
        }
        guard hasLanguages else {
            throw fields.error(.translations, "\"translations\" is empty; give at least one language")
        }
    }

    /// The members of the object at `position`. If the value of a member is not a JSON object, `payload` is nil.
    private func members(
        at position: Int
    ) throws(JSONError) -> [(name: String, position: Int, payload: Range<Int>?)] {
        var members: [(name: String, position: Int, payload: Range<Int>?)] = []
        var scanner = JSONScanner(bytes, position: position, depth: 1)
        try scanner.enterObject()
        while members.count <= Self.mostLanguages, let name = try scanner.nextKey() {
            let isObject = try scanner.kind() == .object
            let value = try scanner.skipValue()
            members.append((scanner.text(name), name.content.lowerBound - 1, isObject ? value : nil))
        }
        return members
    }

    /// Compiles and checks one payload, and appends the template to `templates`.
    private mutating func add(_ payload: Range<Int>, field: String) throws(JobError) {
        func fault(_ position: Int, _ reason: String) -> JobError {
            JobError(field: field, position: position, reason: reason)
        }
        guard payload.count <= PayloadTemplate.longestSource else {
            throw fault(
                payload.lowerBound,
                "the payload has \(payload.count) bytes; at most \(PayloadTemplate.longestSource) are allowed before values are "
                    + "inserted")
        }
        let template: PayloadTemplate
        do throws(TemplateFault) { template = try PayloadTemplate(compiling: payload, of: bytes) } catch {
            throw fault(error.position, error.reason)
        }
        if let (name, position) = wrongName(in: template) {
            throw fault(position, reason(ofWrongName: name))
        }
        let least = template.template.literalBytes
        guard least <= check.limit else {
            throw fault(payload.lowerBound, "without values, " + check.reason(tooLarge: least))
        }
        if let (key, position) = check.backgroundFault(of: payload) {
            throw fault(position, MalformedPush.Fault.backgroundWith(key).reason)
        }
        templates.append(template)
    }

    /// The first placeholder whose name is not allowed, with the position of the name; nil if all names are allowed.
    private func wrongName(in template: PayloadTemplate) -> (name: String, position: Int)? {
        guard let names else { return nil }
        for placeholder in template.placeholders {
            let name = String(
                decoding: UnsafeRawBufferPointer(rebasing: bytes[placeholder.name]), as: UTF8.self)
            if !names.contains(name) { return (name, placeholder.name.lowerBound) }
        }
        return nil
    }

    private func reason(ofWrongName name: String) -> String {
        let all = names ?? []
        let advice =
            NearestWord.find(name, among: all).map { "did you mean \"\($0)\"?" }
            ?? "a placeholder may be \(all.joined(separator: ", "))"
        return "a device has no attribute \"\(name)\"; \(advice)"
    }
}
