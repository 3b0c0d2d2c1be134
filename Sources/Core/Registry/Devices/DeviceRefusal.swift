/// Why an input of the registry has no effect.
package enum DeviceRefusal: Error, Equatable, Sendable {
    /// The field is outside its limits in ``DeviceLimits``.
    case limit(field: String)
    /// No device has this id, so its tags cannot be changed.
    case unknownDevice(id: String)
    /// The device would have more than ``DeviceLimits/tags`` tags.
    case tooManyTags
    /// The dictionary of the device's partition has no room for this name.
    case tooManyNames(AttributeName)
    /// The user already has ``DeviceLimits/devicesOfUser`` devices besides this device.
    case tooManyDevices(user: String)
    /// Too many other ids, or addresses, have the same field in the index.
    case tooManyCollisions(RegistryIndex)
    /// All ordinals of the device's partition are in use.
    case partitionFull
    /// The stored record of a device that the input names cannot be read.
    case unreadableRecord(DevicePlace)

    /// The field of the input that is the cause.
    package var field: String {
        switch self {
        case .limit(let field): field
        case .unknownDevice, .partitionFull, .unreadableRecord: "id"
        case .tooManyTags: "tags"
        case .tooManyNames(let name): name.text.split(separator: ":").first.map(String.init) ?? "tags"
        case .tooManyDevices: "user"
        case .tooManyCollisions(let index): index.rawValue
        }
    }
}

extension DeviceRefusal: CustomStringConvertible {
    package var description: String {
        switch self {
        case .limit(let field): "\(field) is too long, too short or has too many values"
        case .unknownDevice(let id): "there is no device \"\(id.prefix(80))\""
        case .tooManyTags: "a device can have \(DeviceLimits.tags) tags"
        case .tooManyNames(let name):
            "\"\(name)\" is new, and the registry has \(AttributeNames.limit) different tags and other values"
        case .tooManyDevices(let user):
            "user \"\(user.prefix(80))\" has \(DeviceLimits.devicesOfUser) devices, which is the limit"
        case .tooManyCollisions: "too many others have the same hash"
        case .partitionFull:
            "a partition of the registry has \(DevicePlace.largestOrdinal + 1) devices, which is the limit"
        case .unreadableRecord(let place):
            "record \(place.ordinal) of partition \(place.partition) cannot be read"
        }
    }
}

/// The result of an input of the registry.
package enum DeviceResult: Equatable, Sendable {
    /// The registry has the state that the input asks for.
    case applied
    /// The input had no effect.
    case refused(DeviceRefusal)
}
