/// The settings of a device model: the profiles of all devices, and how fast the model's time passes.
package struct DevicePopulation: Hashable, Sendable {
    /// The greatest number of profiles. A profile's number is stored in one byte.
    package static let mostProfiles = 64

    /// The seconds of the model that pass in one second.
    package var timeFactor = 1.0
    /// The time of day at the model's start, as a duration since midnight.
    package var startsAt = Duration.zero
    /// The seed of all random choices. The same seed and the same token give the same device.
    package var seed: UInt64 = 1
    /// The member of a payload that names the edition, or an array of editions in the order of their download.
    package var editionKey = "edition"
    /// The size of an edition in kilobytes (1,000 bytes).
    package var editionKilobytes: UInt32 = 30_000
    /// The greatest number of devices. After this number is reached, pushes to new tokens are counted and have no other
    /// effect.
    package var mostDevices = 2_000_000
    /// The profiles by name. The sum of their shares is 1.
    package var profiles: [Named] = [Named(name: "device", profile: DeviceProfile())]

    package struct Named: Hashable, Sendable {
        package var name: String
        package var profile: DeviceProfile

        package init(name: String, profile: DeviceProfile) {
            self.name = name
            self.profile = profile
        }
    }

    package init() {}

    /// The number of the profile of a device.
    /// - Parameter fraction: the device's random number in 0..<1.
    func profileNumber(_ fraction: Double) -> UInt8 {
        var rest = fraction
        for (number, named) in profiles.enumerated() {
            rest -= named.profile.share
            if rest < 0 { return UInt8(clamping: number) }
        }
        return UInt8(clamping: profiles.count - 1)
    }
}
