/// Renders the payloads of a batch with templates: converts a batch of version 2 into a batch of version 1.
///
/// The new batch has the same job parts and positions. In a job part that had templates, each push has its own payload.
struct TemplateExpansion {
    /// The maximum size in bytes of all rendered payloads. The farm writes at most 256 payloads into a batch, so only a damaged
    /// batch exceeds this limit.
    private static let mostRendered = 16 << 20

    private let bytes: UnsafeRawBufferPointer
    private var templates: [Template] = []
    private var builder = BatchBuilder()
    private var values: [Range<Int>?] = []
    private var payload: [UInt8] = []
    private var rendered = 0

    private init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    static func expand(_ body: [UInt8]) throws(CodecError) -> [UInt8] {
        try body.withUnsafeBufferPointer { (buffer) throws(CodecError) in
            var expansion = TemplateExpansion(UnsafeRawBufferPointer(buffer))
            return try expansion.run()
        }
    }

    private mutating func run() throws(CodecError) -> [UInt8] {
        let (jobParts, pushes) = try Batch.decode(bytes, version: BatchLayout.templateVersion)
        guard jobParts.contains(where: \.hasTemplates) else {
            throw CodecError(fault: .version(BatchLayout.templateVersion), offset: 0)
        }
        for jobPart in jobParts {
            if jobPart.hasTemplates {
                try render(jobPart, pushes[jobPart.pushes])
            } else {
                builder.append(
                    jobPart: part(jobPart.encoded), tokens: jobPart.pushes.count,
                    jobID: Array(part(jobPart.jobID)),
                    isAtMostOnce: jobPart.options.delivery == .atMostOnce)
            }
        }
        guard let body = builder.finish() else { preconditionFailure("a decoded batch without pushes") }
        return body
    }

    private mutating func render(
        _ jobPart: Batch.JobPart, _ pushes: ArraySlice<Batch.Push>
    ) throws(CodecError) {
        func text(_ range: Range<Int>) -> String { String(decoding: part(range), as: UTF8.self) }
        let head = JobPartHead(
            repeating: jobPart, jobID: text(jobPart.jobID), attempt: jobPart.attempt,
            cause: text(jobPart.cause))
        builder.begin(head, payload: UnsafeRawBufferPointer(start: nil, count: 0))
        for push in pushes {
            try render(push.payload)
            let token = part(push.token)
            payload.withUnsafeBytes { builder.append(token: token, payload: $0) }
        }
    }

    /// Renders the payload of one push from its encoded content.
    private mutating func render(_ content: Range<Int>) throws(CodecError) {
        var reader = ByteReader(part(content))
        func error(_ field: CodecError.Field) -> CodecError {
            CodecError(fault: .value(field), offset: content.lowerBound + reader.offset)
        }
        var number = try Int(reader.uint16())
        if number == Int(BatchLayout.newTemplate) {
            number = templates.count
            templates.append(try Template(from: &reader))
        }
        guard number < templates.count else { throw error(.template) }
        let template = templates[number]
        values.removeAll(keepingCapacity: true)
        for slot in 0..<template.slots {
            let value = try SlotText.read(&reader)
            guard value != nil || template.hasDefault(slot) else { throw error(.values) }
            values.append(value)
        }
        guard reader.isAtEnd else { throw error(.values) }
        let size = template.size(with: values)
        rendered += size
        guard size <= Template.longestRendered, rendered <= Self.mostRendered else { throw error(.payload) }
        payload.removeAll(keepingCapacity: true)
        template.render(values, of: reader.bytes, to: &payload)
    }

    private func part(_ range: Range<Int>) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: bytes[range])
    }
}
