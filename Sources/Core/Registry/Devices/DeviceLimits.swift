/// The limits of a stored device. The parser of inputs and ``InputApplication`` enforce the limits, and the reader of
/// records relies on the limits.
package enum DeviceLimits {
    /// The allowed length of a device id, in bytes of UTF-8.
    package static let idBytes = 1...256
    /// The allowed length of a user id, in bytes of UTF-8.
    package static let userBytes = 1...256
    /// The allowed length of a tag, zone, language, platform, app version, system version or model, in bytes of UTF-8.
    package static let valueBytes = 1...100
    /// The largest number of tags of a device.
    package static let tags = 255
    /// The largest number of addresses of a device.
    package static let addresses = 8
    /// The allowed length of an address in bytes.
    package static let addressBytes = 1...4096
    /// The largest number of devices of a user.
    package static let devicesOfUser = 1000
    /// The largest number of devices whose ids, or whose addresses, have the same field in an index.
    static let collisions = 100

    /// The first field that is outside its limits; nil if all fields are within their limits.
    static func fault(in fields: DeviceFields) -> String? {
        if !idBytes.contains(fields.id.utf8.count) { return "id" }
        if let user = fields.user, !userBytes.contains(user.utf8.count) { return "user" }
        let addresses = fields.addresses
        if addresses.count > Self.addresses { return "addresses" }
        if addresses.contains(where: { !addressBytes.contains($0.bytes.count) }) { return "token" }
        if fields.tags.count > tags || !areValues(fields.tags) { return "tags" }
        let values = [
            ("zone", fields.zone), ("lang", fields.lang), ("platform", fields.platform),
            ("app", fields.app), ("os", fields.os), ("model", fields.model),
            ("reachability", fields.reachability), ("network", fields.network),
        ]
        return values.first { $0.1.map { !areValues([$0]) } ?? false }?.0
    }

    /// Whether the length of each text is in ``valueBytes``.
    static func areValues(_ texts: [String]) -> Bool {
        texts.allSatisfy { valueBytes.contains($0.utf8.count) }
    }
}
