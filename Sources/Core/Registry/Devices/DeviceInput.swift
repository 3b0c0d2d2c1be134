/// One entry of the list of device inputs, which producers and the scripts that suppress tokens write.
package enum DeviceInput: Equatable, Sendable {
    /// Registers the device, or replaces all its fields.
    case set(DeviceFields)
    /// Adds and removes tags of a registered device.
    case change(id: String, addTags: [String], removeTags: [String])
    /// Removes the device.
    ///
    /// - Parameter seenUntil: if given, the device is removed only if it was last seen on this day or before: a number
    ///   of days since 1970 in UTC.
    case remove(id: String, seenUntil: Int? = nil)
    /// Removes all devices of the user.
    case forget(user: String)
    /// Removes the address from its device, unless the device was registered with the address after `at`, a time in
    /// Unix seconds.
    case invalidate(DeviceAddress, at: Int64)
}

/// The times of a device in an export. An import keeps these times.
package struct DeviceTimes: Equatable, Sendable {
    /// When the device was first registered, in Unix seconds.
    package let registered: Int64
    /// The day when the device was last seen, as a number of days since 1970 in UTC; nil for the day of the import.
    package let seenDay: Int?
    /// For each address of the registration, in order, the time since which the device has the address, in Unix seconds; nil for
    /// ``registered``.
    package let since: [Int64?]

    package init(registered: Int64, seenDay: Int? = nil, since: [Int64?] = []) {
        (self.registered, self.seenDay, self.since) = (registered, seenDay, since)
    }
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
    /// Why background pushes may not reach the device; nil if they reach it, or if this is unknown.
    package let reachability: String?
    /// The kind of network when the device registered.
    package let network: String?
    /// The times that an import keeps; nil in other registrations. Times in the future become the time of the import.
    package let times: DeviceTimes?

    package init(
        id: String, addresses: [DeviceAddress], user: String? = nil, tags: [String] = [], zone: String? = nil,
        lang: String? = nil, platform: String? = nil, app: String? = nil, os: String? = nil,
        model: String? = nil, reachability: String? = nil, network: String? = nil, times: DeviceTimes? = nil
    ) {
        self.times = times
        (self.id, self.addresses, self.user, self.tags) = (id, addresses, user, tags)
        (self.zone, self.lang, self.platform) = (zone, lang, platform)
        (self.app, self.os, self.model) = (app, os, model)
        (self.reachability, self.network) = (reachability, network)
    }
}
