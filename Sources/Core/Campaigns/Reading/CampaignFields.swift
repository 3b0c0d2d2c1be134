import PushModel
import Scheduling
import Segments

/// Reads the fields of a definition and checks how they go together.
struct CampaignFields {
    let fields: FieldObject
    /// Why a campaign may not name a time zone; nil if the zone has rules.
    private let zoneFault: (String) -> ZoneError?

    init(_ fields: FieldObject, zoneFault: @escaping (String) -> ZoneError?) {
        (self.fields, self.zoneFault) = (fields, zoneFault)
    }

    subscript(field: CampaignField) -> FieldValue? { fields[field.rawValue] }

    /// Refuses two fields that cannot both be given.
    func exclude(_ one: CampaignField, _ other: CampaignField) throws(CampaignError) {
        guard self[one] != nil, let second = self[other] else { return }
        throw second.error(
            "\"\(one.rawValue)\" and \"\(other.rawValue)\" exclude each other; give one of them")
    }

    /// Refuses a field that is given without another field, which it needs.
    func require(_ field: CampaignField, of other: CampaignField) throws(CampaignError) {
        guard let value = self[field], self[other] == nil else { return }
        throw value.error("\"\(field.rawValue)\" needs \"\(other.rawValue)\"")
    }

    private func missing(_ reason: String, _ field: CampaignField) -> CampaignError {
        CampaignError(field: field.rawValue, position: fields.value.position, reason: reason)
    }

    // MARK: Names and audience

    func id() throws(CampaignError) -> String? {
        try self[.id]?.text(mustBe: CampaignIdentity.idRule, CampaignIdentity.isID)
    }

    func name(_ field: CampaignField) throws(CampaignError) -> String? {
        try self[field]?.text(mustBe: CampaignIdentity.nameRule, CampaignIdentity.isName)
    }

    func series() throws(CampaignError) -> String? { try name(.series) }

    /// The fields that a campaign to a list cannot have, because the farm stores nothing about rows beyond a campaign.
    private static let faultsOfLists: [(CampaignField, String)] = [
        (.category, "a row of a list is no stored device, so it has no count of earlier pushes"),
        (.caps, "a row of a list is no stored device, so it has no count of earlier pushes"),
        (.merge, "rows of two lists cannot be known to be the same device"),
        (.variants, "rows of a list have no ids of devices, so they cannot get rewards"),
    ]

    func audience() throws(CampaignError) -> Campaign.Audience {
        try exclude(.segment, .list)
        if let list = try name(.list) {
            for (field, fault) in Self.faultsOfLists {
                if let value = self[field] {
                    throw value.error("\"\(field.rawValue)\" needs \"segment\": \(fault)")
                }
            }
            return .list(list)
        }
        guard let segment = self[.segment] else {
            throw missing("\"segment\" is missing; a campaign needs \"segment\" or \"list\"", .segment)
        }
        let text = try segment.text(
            mustBe: "the name of a saved segment, or an expression such as \"tag:sport & lang:de\"")
        if text != "all", CampaignIdentity.isName(text) { return .saved(text) }
        do throws(SegmentError) { return .expression(try SegmentExpression(parsing: text)) } catch {
            throw segment.error("\"segment\" is not an expression: \(error.description)")
        }
    }

    // MARK: Content

    /// - Parameter variants: the campaign's variants. They replace `payload`.
    func content(_ variants: CampaignVariants?) throws(CampaignError) -> CampaignContent {
        try exclude(.payload, .translations)
        try exclude(.payload, .variants)
        let translations = try object(
            .translations, like: "an object such as {\"de\": {…}, \"default\": {…}}")
        var message = try object(.payload, like: "a JSON object") ?? translations
        if let variant = variants?.variants.first {
            message = CampaignContent.Part(field: .payload, range: variant.payload)
        }
        guard let message else {
            throw missing(
                "\"payload\" is missing; a campaign needs \"payload\" or \"translations\"", .payload)
        }
        try exclude(.ttl, .expiresAt)
        let options = CampaignField.ofJob.compactMap { field in
            self[field].map { CampaignContent.Part(field: field, range: $0.tree.range) }
        }
        return CampaignContent(
            message: message, options: options, fallback: try fallback(),
            variants: variants?.variants.map(\.payload) ?? [])
    }

    private func object(
        _ field: CampaignField, like what: String
    ) throws(CampaignError) -> CampaignContent.Part? {
        guard let value = self[field] else { return nil }
        guard value.tree.kind == .object else { throw value.error(mustBe: what) }
        return CampaignContent.Part(field: field, range: value.tree.range)
    }

    private func fallback() throws(CampaignError) -> Range<Int>? {
        guard let value = self[.fallback] else { return nil }
        try require(.fallback, of: .repeat)
        let object = try FieldObject(
            value, path: "fallback.", names: ["payload"], mustBe: "an object such as {\"payload\": {…}}")
        let payload = try object.required("payload", path: "fallback.")
        guard payload.tree.kind == .object else { throw payload.error(mustBe: "a JSON object") }
        return payload.tree.range
    }

    // MARK: Zones

    static let zoneRule = "a time zone's name in the IANA database, such as \"Europe/Berlin\""

    /// Returns the name of a zone that tzdata has.
    func zone(_ value: FieldValue) throws(CampaignError) -> String {
        let name = try value.text(mustBe: Self.zoneRule) { (1...64).contains($0.utf8.count) }
        if let fault = zoneFault(name) { throw value.error(fault.description) }
        return name
    }

    func defaultZone() throws(CampaignError) -> String {
        guard let value = self[.zone] else { return "UTC" }
        return try zone(value)
    }
}
