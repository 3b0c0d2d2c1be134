import PushModel

/// The text of a job that is made of parts of a definition, and where each part came from.
struct WrittenJob {
    private struct Copy {
        /// The range in the job's text.
        let range: Range<Int>
        /// The offset in the definition.
        let source: Int
        /// The index of the variant whose payload this is; nil for other parts.
        var variant: Int?
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

    /// Writes the payloads of variants as the translations of the job.
    mutating func copy(variants: [Range<Int>]) {
        text.key(CampaignField.translations.rawValue)
        text.beginObject()
        for (index, range) in variants.enumerated() {
            text.key(CampaignVariants.language(ofVariant: index))
            let start = text.bytes.count
            text.value(json: definition[range])
            copies.append(Copy(range: start..<text.bytes.count, source: range.lowerBound, variant: index))
        }
        text.endObject()
    }

    /// Converts an error of the job to an error of the definition.
    ///
    /// - Parameter isFallback: whether the job has the payload of `fallback`.
    func refusal(_ error: JobError, isFallback: Bool, id: String?) -> CampaignError {
        if let place = Self.place(ofPush: error) {
            // The made-up push of a variant has the variant's index.
            let variant = copies.first { $0.variant == place.index }
            return CampaignError(
                field: variant.map(Self.field) ?? (isFallback ? "fallback.payload" : "payload"),
                position: (variant ?? copies.first)?.source ?? 0,
                reason: Self.reason(ofPush: error, path: place.path), id: id)
        }
        let copy = copies.first { $0.range.contains(error.position) || $0.range.upperBound == error.position }
        var field = error.field
        if field == "payload" || field.hasPrefix("translations") {
            field =
                copy?.variant == nil ? (isFallback ? "fallback." : "") + field : copy.map(Self.field) ?? field
        }
        return CampaignError(
            field: field,
            position: copy.map { error.position - $0.range.lowerBound + $0.source } ?? copies.first?.source
                ?? 0,
            reason: error.reason, id: id)
    }

    private static func field(of copy: Copy) -> String { "variants[\(copy.variant ?? 0)].payload" }

    /// The index of the made-up push that has the fault, and the fault's path in the push such as `.lang`; nil if the fault is not
    /// in a push.
    private static func place(ofPush error: JobError) -> (index: Int, path: Substring)? {
        guard error.field.hasPrefix("pushes") else { return nil }
        let rest = error.field.dropFirst("pushes".count)
        guard rest.first == "[", let end = rest.firstIndex(of: "]") else { return (0, rest) }
        return (Int(foreign: rest[..<end].dropFirst()) ?? 0, rest[rest.index(after: end)...])
    }

    /// The reason for a fault of a made-up push.
    private static func reason(ofPush error: JobError, path: Substring) -> String {
        let values = ".values."
        if path.hasPrefix(values) {
            let name = path.dropFirst(values.count)
            return
                "a device may have no \"\(name)\"; give its placeholder a default, as in {{\(name)|there}}"
        }
        if path == ".lang" {
            return "\"translations\" needs \"default\", for devices of other languages and without a language"
        }
        return error.reason
    }
}
