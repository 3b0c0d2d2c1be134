/// A device of a campaign, as the campaign's job needs it.
package enum CampaignDevice: Hashable, Sendable {
    /// A device of the registry.
    case stored(Stored)
    /// A row of an uploaded list.
    case row(ListRow)

    /// A device of the registry, as a campaign's job needs it.
    package struct Stored: Hashable, Sendable {
        package enum Address: Hashable, Sendable {
            /// The bytes of the device token.
            case token([UInt8])
            /// The id of the device. The farm looks up the token when it has the job.
            case id(String)
        }

        package let address: Address
        /// The language that chooses the translation; nil for the default.
        package let lang: String?
        /// The values by name.
        package let values: [(name: String, value: Value)]

        package static func == (one: Self, other: Self) -> Bool {
            one.address == other.address && one.lang == other.lang
                && one.values.elementsEqual(other.values) { $0.name == $1.name && $0.value == $1.value }
        }

        package func hash(into hasher: inout Hasher) { hasher.combine(address) }
    }

    /// A value for a placeholder.
    package enum Value: Hashable, Sendable {
        case text(String)
        /// A number, true or false, as JSON.
        case json([UInt8])
    }

    package init(token: [UInt8], lang: String? = nil, values: [(name: String, value: Value)] = []) {
        self = .stored(Stored(address: .token(token), lang: lang, values: values))
    }

    package init(id: String, lang: String? = nil, values: [(name: String, value: Value)] = []) {
        self = .stored(Stored(address: .id(id), lang: lang, values: values))
    }

    /// Whether the registry gave the token of the device.
    var hasStoredToken: Bool {
        if case .stored(let device) = self, case .token = device.address { true } else { false }
    }

    /// The device with the payload of a variant, 0 or more. A row of an uploaded list has no variants.
    package func with(variant index: Int) -> CampaignDevice {
        with(language: CampaignVariants.language(ofVariant: index))
    }

    /// The device with a merged payload, 0 or more. A row of an uploaded list gets no merged push.
    package func with(mergedPayload index: Int) -> CampaignDevice {
        with(language: MergedPayloads.language(ofPayload: index))
    }

    private func with(language lang: String) -> CampaignDevice {
        guard case .stored(let device) = self else { return self }
        return .stored(Stored(address: device.address, lang: lang, values: device.values))
    }

    /// The attributes of a stored device that a payload may use as placeholders, in order: `{{user}}`, `{{platform}}` and so on.
    package static let attributes = ["id", "user", "platform", "lang", "zone", "app", "os", "model"]
}

extension Campaign {
    /// The names of the attributes of stored devices that the campaign's pushes contain as values: none if no payload has a
    /// placeholder.
    package var attributes: [String] { definition.contains("{{".utf8) ? CampaignDevice.attributes : [] }
}
