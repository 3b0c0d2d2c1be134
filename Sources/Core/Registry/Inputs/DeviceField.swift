import PushModel

/// The fields that a device input may have.
package enum DeviceSchema {
    /// The names of the fields of a device input.
    package static var fields: [String] { DeviceField.allCases.map(\.rawValue) }
    /// The names of the fields of an element of `addresses`.
    package static var addressFields: [String] { DeviceField.ofAddress.map(\.rawValue) }
}

/// The fields of a device input, named as in its JSON.
enum DeviceField: String, CaseIterable, Sendable {
    case id, token, service, environment, kind, addresses, user, tags, zone, lang, platform, app, os, model
    case reachability, network
    case remove
    case addTags = "add_tags"
    case removeTags = "remove_tags"
    case forgetUser = "forget_user"
    case registered, seen, since, invalid, at

    /// The fields of one address. These fields are in the same object as `id`, or in an element of `addresses`.
    static let ofAddress: [DeviceField] = [.token, .service, .environment, .kind, .since]

    /// How to correct the unknown field `name`, where `fields` are allowed.
    static func advice(for name: String, among fields: [DeviceField]) -> String {
        if let meant = meant(by: name), fields.contains(meant) { return "use \"\(meant.rawValue)\"" }
        let names = fields.map(\.rawValue)
        if let nearest = NearestWord.find(name, among: names) { return "did you mean \"\(nearest)\"?" }
        return "the fields are " + names.joined(separator: ", ")
    }

    /// The field that a producer probably means by a wrong name, such as `deviceToken` for `token`; nil if unknown.
    private static func meant(by name: String) -> DeviceField? {
        switch name.lowercased().filter({ $0 != "_" && $0 != "-" }) {
        case "deviceid", "installationid": .id
        case "devicetoken", "pushtoken", "apnstoken": .token
        case "userid", "useridentifier": .user
        case "timezone", "tz": .zone
        case "language", "locale": .lang
        case "appversion": .app
        case "osversion", "systemversion": .os
        case "devicemodel": .model
        case "reachable": .reachability
        case "connection", "networktype": .network
        default: nil
        }
    }
}

/// Why a device input was refused, for the developer of the producer.
package struct DeviceInputError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The wrong field, such as `zone` or `addresses[3].token`; `device` for the input as a whole.
    package let field: String
    /// The offset of the fault in the input's bytes.
    package let position: Int
    /// A sentence with the fault and the correction.
    package let reason: String
    /// The device's id, if the parser read it before the fault.
    package internal(set) var device: String?

    package init(field: String, position: Int, reason: String, device: String? = nil) {
        (self.field, self.position, self.reason, self.device) = (field, position, reason, device)
    }

    package var description: String { "\(field): \(reason) (at byte \(position))" }
}
