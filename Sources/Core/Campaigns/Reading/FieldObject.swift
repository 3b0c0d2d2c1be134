import PushModel

/// An object of a campaign's definition, whose fields are known and occur once.
struct FieldObject {
    /// The value that is the object.
    let value: FieldValue
    private let fields: [String: FieldValue]

    /// - Parameters:
    ///   - path: the text before the names of the fields in errors, such as `window.`; empty for the whole definition.
    ///   - names: the fields that the object may have.
    ///   - what: the correct form in words, for a value that is not an object.
    init(
        _ value: FieldValue, path: String, names: [String], mustBe what: String
    ) throws(CampaignError) {
        guard case .object(let members) = value.tree.content else { throw value.error(mustBe: what) }
        var fields: [String: FieldValue] = [:]
        for member in members {
            let field = FieldValue(name: path + member.name, tree: member.value, bytes: value.bytes)
            guard names.contains(member.name) else {
                throw Self.unknown(member, path: path, names: names)
            }
            guard fields.updateValue(field, forKey: member.name) == nil else {
                throw CampaignError(
                    field: field.name, position: member.position, reason: "\"\(field.name)\" is given twice")
            }
        }
        (self.value, self.fields) = (value, fields)
    }

    subscript(name: String) -> FieldValue? { fields[name] }

    /// The value of a field that the object must have.
    func required(_ name: String, path: String) throws(CampaignError) -> FieldValue {
        guard let field = fields[name] else {
            throw CampaignError(
                field: path + name, position: value.position, reason: "\"\(path + name)\" is missing")
        }
        return field
    }

    private static func unknown(
        _ member: JSONTree.Member, path: String, names: [String]
    ) -> CampaignError {
        let name = Excerpt.of(path + member.name)
        let advice =
            if let nearest = NearestWord.find(member.name, among: names) {
                "did you mean \"\(path + nearest)\"?"
            } else {
                "the fields are " + names.joined(separator: ", ")
            }
        return CampaignError(
            field: name.isEmpty ? CampaignError.whole : name, position: member.position,
            reason: "there is no field \"\(name)\"; \(advice)")
    }
}
