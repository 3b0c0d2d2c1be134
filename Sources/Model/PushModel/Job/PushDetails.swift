/// The payloads, values and options that the accepted pushes of a job do not share.
package struct PushDetails: Sendable {
    /// One push's own payload or the number of its template, and its own options.
    struct Detail {
        /// The push's own payload in the job's bytes; nil if the payload is a template.
        var payload: Range<Int>?
        /// The number of the push's template.
        var template = 0
        /// The push's own options; nil if the push has the job's options.
        var options: PushOptions?
    }

    /// The encoded templates of the job: one for the payload, or one for each language.
    package private(set) var templates: [[UInt8]] = []
    /// The range of each push's payload in the job's bytes, or of its encoded values in `values`.
    private var contents: [Range<Int>] = []
    /// The number of each push's template; empty if the pushes have no templates.
    private var templateNumbers: [UInt8] = []
    private var values: [UInt8] = []
    /// Options that differ from the job's options.
    private var options: [PushOptions] = []
    /// For each push, 0 for the job's options, or 1 plus an index of `options`; empty if all pushes have the job's options.
    private var optionNumbers: [UInt32] = []

    init() {}

    init(templates: [Template]) { self.templates = templates.map(\.encoded) }

    package var hasTemplates: Bool { !templates.isEmpty }
    var hasOwnOptions: Bool { !optionNumbers.isEmpty }

    /// - Parameter slots: the ranges of the push's values in the job's bytes `bytes`, in the order of the template's slots.
    mutating func append(_ detail: Detail, slots: [Range<Int>?], of bytes: UnsafeRawBufferPointer) {
        appendOptions(detail.options)
        if let payload = detail.payload { return contents.append(payload) }
        let start = values.count
        for value in slots {
            SlotText.write(value.map { UnsafeRawBufferPointer(rebasing: bytes[$0]) }, to: &values)
        }
        contents.append(start..<values.count)
        templateNumbers.append(UInt8(truncatingIfNeeded: detail.template))
    }

    private mutating func appendOptions(_ own: PushOptions?) {
        if own == nil, optionNumbers.isEmpty { return }
        // This push is the first with its own options; all earlier pushes get number 0, the job's options.
        if optionNumbers.isEmpty { optionNumbers = [UInt32](repeating: 0, count: contents.count) }
        guard let own else { return optionNumbers.append(0) }
        if options.last != own { options.append(own) }
        optionNumbers.append(UInt32(truncatingIfNeeded: options.count))
    }

    // MARK: Reading

    /// The number of a push's options; pushes with the same number have the same options. 0 is the number of the job's options.
    package func optionNumber(of push: Int) -> Int {
        optionNumbers.isEmpty ? 0 : Int(optionNumbers[push])
    }

    /// Returns the options with this number, which must be above 0.
    package func options(number: Int) -> PushOptions { options[number - 1] }

    /// The number of a push's template.
    package func template(of push: Int) -> Int { Int(templateNumbers[push]) }

    /// The range of a push's own payload in the job's bytes. Call this only if the pushes have no templates.
    func payload(of push: Int) -> Range<Int> { contents[push] }

    /// Passes the encoded values of a push with a template to `body`.
    package func withValues<Value>(of push: Int, _ body: (UnsafeRawBufferPointer) -> Value) -> Value {
        values.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[contents[push]])) }
    }
}
