/// One entry of the list of registrations, which producers write.
package enum DeviceInput: Equatable, Sendable {
    /// Registers the device, or replaces all its fields.
    case set(DeviceFields)
    /// Adds and removes tags of a registered device.
    case change(id: String, addTags: [String], removeTags: [String])
    /// Removes the device.
    case remove(id: String)
    /// Removes all devices of the user.
    case forget(user: String)
}

/// The fields of a registration.
///
/// ``DeviceLimits`` has the limits, which the parser of inputs enforces.
package struct DeviceFields: Equatable, Sendable {
    package let id: String
    package let addresses: [DeviceAddress]
    package let user: String?
    package let tags: [String]
    /// The name of a time zone, such as `Europe/Berlin`.
    package let zone: String?
    package let lang: String?
    /// Such as `ios`.
    package let platform: String?
    /// The version of the app.
    package let app: String?
    /// The version of the operating system.
    package let os: String?
    /// The model of the device.
    package let model: String?

    package init(
        id: String, addresses: [DeviceAddress], user: String? = nil, tags: [String] = [], zone: String? = nil,
        lang: String? = nil, platform: String? = nil, app: String? = nil, os: String? = nil,
        model: String? = nil
    ) {
        (self.id, self.addresses, self.user, self.tags) = (id, addresses, user, tags)
        (self.zone, self.lang, self.platform) = (zone, lang, platform)
        (self.app, self.os, self.model) = (app, os, model)
    }
}
