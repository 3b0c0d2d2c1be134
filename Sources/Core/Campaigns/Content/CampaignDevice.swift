/// A device of a campaign, as the campaign's job needs it.
package struct CampaignDevice: Hashable, Sendable {
    /// A value for a placeholder.
    package enum Value: Hashable, Sendable {
        case text(String)
        /// A number, true or false, as JSON.
        case json([UInt8])
    }

    /// The bytes of the device token.
    package let token: [UInt8]
    /// The language that chooses the translation; nil for the default.
    package let lang: String?
    /// The values by name.
    package let values: [(name: String, value: Value)]

    package init(token: [UInt8], lang: String? = nil, values: [(name: String, value: Value)] = []) {
        (self.token, self.lang, self.values) = (token, lang, values)
    }

    /// The device with the payload of a variant, 0 or more.
    package func with(variant index: Int) -> CampaignDevice {
        CampaignDevice(
            token: token, lang: CampaignVariants.language(ofVariant: index), values: values)
    }

    package static func == (one: Self, other: Self) -> Bool {
        one.token == other.token && one.lang == other.lang
            && one.values.elementsEqual(other.values) { $0.name == $1.name && $0.value == $1.value }
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(token) }

    /// The attributes of a stored device that a payload may use as placeholders, in order: `{{user}}`, `{{platform}}` and so on.
    package static let attributes = ["id", "user", "platform", "lang", "zone", "app", "os", "model"]
}
