/// The payloads, values and options of a job's accepted pushes, if these differ from push to push.
package struct PushDetails: Sendable {
    /// The payload or the template of one push, and the options that the push sets itself.
    struct Detail {
        /// The range of the push's own payload in the job's bytes; nil if the push has a template.
        var payload: Range<Int>?
        /// The index of the push's template in `templates`. Without meaning if the push has its own payload.
        var template = 0
        /// The push's own options; nil if the push has the job's options.
        var options: PushOptions?
    }

    /// The encoded templates of the job: one template for `payload`, or one for each language of `translations`.
    package private(set) var templates: [[UInt8]] = []
    /// For each push: the range of its payload in the job's bytes, or, if the job has templates, of its values in `values`.
    private var contents: [Range<Int>] = []
    /// For each push, the index of its template in `templates`; empty if the job has no templates.
    private var templateNumbers: [UInt8] = []
    private var values: [UInt8] = []
    /// The options of pushes that set an option themselves. Successive pushes with equal options share an element.
    private var options: [PushOptions] = []
    /// For each push: 0 (the job's options) or 1 plus an index in `options`. Empty if all pushes have the job's options.
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
        // If the array is empty, this push is the first with its own options. All earlier pushes get 0, the job's options.
        if optionNumbers.isEmpty { optionNumbers = [UInt32](repeating: 0, count: contents.count) }
        guard let own else { return optionNumbers.append(0) }
        if options.last != own { options.append(own) }
        optionNumbers.append(UInt32(truncatingIfNeeded: options.count))
    }

    // MARK: Reading

    /// The number of a push's options; 0 is the number of the job's options. Pushes with the same number have the same options.
    package func optionNumber(of push: Int) -> Int {
        optionNumbers.isEmpty ? 0 : Int(optionNumbers[push])
    }

    /// Returns the options with a number above 0. The number 0 means the job's options, which are not stored here.
    package func options(number: Int) -> PushOptions { options[number - 1] }

    /// The index of a push's template in ``templates``.
    package func template(of push: Int) -> Int { Int(templateNumbers[push]) }

    /// The range of a push's own payload in the job's bytes. Call this only if the job has no templates.
    func payload(of push: Int) -> Range<Int> { contents[push] }

    /// Calls `body` with the encoded values of a push. Call this only if the job has templates.
    package func withValues<Value>(of push: Int, _ body: (UnsafeRawBufferPointer) -> Value) -> Value {
        values.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[contents[push]])) }
    }
}
