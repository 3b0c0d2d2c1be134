import PushModel
package import Scheduling

/// Parses the definition of a campaign strictly: unknown fields, wrong types and contradictions are refused.
///
/// The content of the pushes is not checked here, because its rules are those of jobs: ``CampaignJob/check(_:rules:)`` does.
package struct CampaignParser {
    /// The maximum length of a definition in bytes.
    package static let longest = 1 << 20

    /// Why a campaign may not name a time zone; nil if the zone has rules.
    private let zoneFault: (String) -> ZoneError?

    /// - Parameter zones: the rules of a time zone by its name; nil for a name that tzdata does not have.
    package init(zones: @escaping (String) -> TimeZoneRules?) {
        zoneFault = { zones($0) == nil ? .unknown(name: $0, nearest: nil) : nil }
    }

    /// Creates a parser whose errors contain a similar name for a zone that does not exist.
    package init(_ catalog: ZoneCatalog) {
        zoneFault = { name in
            do throws(ZoneError) { _ = try catalog.rules(name) } catch { return error }
            return nil
        }
    }

    /// Reads a definition.
    /// - Throws: ``CampaignError`` with the first fault.
    package func parse(_ bytes: [UInt8]) throws(CampaignError) -> Campaign {
        guard bytes.count <= Self.longest else {
            throw CampaignError(
                field: CampaignError.whole, position: Self.longest,
                reason: "the campaign has \(bytes.count) bytes; at most \(Self.longest) are allowed")
        }
        let tree: JSONTree
        do throws(JSONError) { tree = try JSONTree(bytes) } catch {
            throw CampaignError(
                field: CampaignError.whole, position: error.position,
                reason: "the campaign is not valid JSON: \(error.description)")
        }
        do throws(CampaignError) {
            return try campaign(FieldValue(name: CampaignError.whole, tree: tree, bytes: bytes))
        } catch {
            var error = error
            if let id = tree[CampaignField.id.rawValue]?.text, CampaignIdentity.isID(id) { error.id = id }
            throw error
        }
    }

    private func campaign(_ value: FieldValue) throws(CampaignError) -> Campaign {
        let fields = CampaignFields(
            try FieldObject(
                value, path: "", names: CampaignField.allCases.map(\.rawValue), mustBe: "a JSON object"),
            zoneFault: zoneFault)
        let id = try fields.id()
        let audience = try fields.audience()
        let variants = try fields.variants()
        let content = try fields.content(variants)
        let defaultZone = try fields.defaultZone()
        let schedule = try fields.schedule(variants)
        let campaign = Campaign(
            definition: value.bytes, id: id, audience: audience, content: content, schedule: schedule,
            defaultZone: defaultZone, series: try fields.series(), limits: try fields.limits(),
            merge: try fields.merge(), recurrence: try fields.recurrence(), variants: variants)
        try fields.checkMerge(of: campaign)
        return campaign
    }
}

/// The rules for names of campaigns.
package enum CampaignIdentity {
    static let idRule = "a string of 1 to 64 characters without control characters"
    static let nameRule =
        "a string of 1 to 64 letters, digits and _.-, of which the first is a letter or a digit"

    /// Whether a text can be the id of a campaign. The rule is that of job ids, because the campaign's id is its job's id.
    package static func isID(_ text: String) -> Bool {
        (1...64).contains(text.unicodeScalars.count) && text.utf8.count <= 255
            && !text.unicodeScalars.contains(where: UTF8Text.isControl)
    }

    /// Whether a text can be the name of a saved segment, a list, a category, a series, a merge or a variant.
    static func isName(_ text: String) -> Bool {
        guard (1...64).contains(text.utf8.count), text.utf8.first?.isLetterOrDigit == true else {
            return false
        }
        return text.utf8.allSatisfy { $0.isLetterOrDigit || "_.-".utf8.contains($0) }
    }
}
