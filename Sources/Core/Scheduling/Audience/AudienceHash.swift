import PushModel

/// The place of a device in the order of a campaign: a hash of a salt and of bytes that name the device.
///
/// Equal bytes and salts always give the same place, so that a device has the same cohort and stage in all rounds.
/// Another salt gives an independent place. The cohort comes from the low bits of the hash and the stage from the high
/// bits, so that each stage has devices of all cohorts.
package struct AudienceHash: Hashable, Sendable {
    private let hash: UInt64

    /// - Parameters:
    ///   - device: bytes that name the device, such as its partition and its ordinal in the registry.
    ///   - salt: a text that campaigns share if a device should have the same place in them, such as the name of a series.
    package init(device: UnsafeRawBufferPointer, salt: String) {
        self.init(device: device, seed: Self.seed(ofSalt: salt))
    }

    /// - Parameter seed: ``seed(ofSalt:)`` of the salt. For many devices, it is faster to compute the seed only once.
    package init(device: UnsafeRawBufferPointer, seed: UInt64) { hash = XXH64.hash(device, seed: seed) }

    /// Returns the seed of a salt: its XXH64 with the seed 0.
    package static func seed(ofSalt salt: String) -> UInt64 { XXH64.hash(Array(salt.utf8), seed: 0) }

    /// Returns the device's cohort, 0..<count: the hash modulo the number of cohorts, which is above 0.
    package func cohort(of count: Int) -> Int {
        precondition(count > 0, "\(count) cohorts")
        return Int(hash % UInt64(count))
    }

    /// The place as a number in 0..<1, with uniform distribution: the 53 high bits of the hash, which a Double represents
    /// exactly.
    package var fraction: Double { Double(hash >> 11) * 0x1p-53 }

    /// Whether the device is among the first `share` of the audience; the share is 0...1. A greater share includes all devices
    /// of a smaller share.
    package func isAmongFirst(_ share: Double) -> Bool { fraction < share }
}
