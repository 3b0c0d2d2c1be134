/// The parts of a definition that the campaign's jobs contain as they stand.
package struct CampaignContent: Hashable, Sendable {
    /// A field of the definition, as the range of its value.
    package struct Part: Hashable, Sendable {
        package let field: CampaignField
        package let range: Range<Int>
    }

    /// `payload` or `translations`.
    package let message: Part
    /// The options, such as `priority`, in the order of ``CampaignField/ofJob``.
    package let options: [Part]
    /// The range of the payload of the last round, where it differs; nil without `fallback`.
    package let fallback: Range<Int>?
    /// The ranges of the variants' payloads; empty without variants. If there are variants, ``message`` is the first of them.
    package let variants: [Range<Int>]

    /// Whether the pushes are background pushes.
    ///
    /// - Parameter definition: the definition with the parts.
    func isBackground(_ definition: [UInt8]) -> Bool {
        options.contains { option in
            option.field == .pushType && definition[option.range].elementsEqual(#""background""#.utf8)
        }
    }

    func has(_ field: CampaignField) -> Bool { options.contains { $0.field == field } }
}
