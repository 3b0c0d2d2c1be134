/// The limits of a stored device. The parser of inputs enforces them, and the reader of records relies on them.
package enum DeviceLimits {
    /// The bytes of a device id in UTF-8.
    package static let idBytes = 1...256
    /// The bytes of a user id in UTF-8.
    package static let userBytes = 1...256
    /// The bytes of a tag, zone, language, platform, app version, system version or model in UTF-8.
    package static let valueBytes = 1...100
    /// The largest number of tags of a device.
    package static let tags = 255
    /// The largest number of addresses of a device.
    package static let addresses = 8
    /// The bytes of an address.
    package static let addressBytes = 1...4096
}
