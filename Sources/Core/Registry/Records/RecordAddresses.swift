/// The parts of a record that a look-up of recipients needs. They can be read without the partition's dictionary.
package struct RecordAddresses: Equatable, Sendable {
    package let id: String
    package let user: String?
    package let addresses: [DeviceRecord.Address]

    /// Reads the bytes of a record. See ``DeviceRecord/init(bytes:names:)`` for the format.
    package init(bytes: some Collection<UInt8>) throws(DeviceRecordError) {
        var reader = RecordReader(Array(bytes))
        let version = try reader.byte()
        guard version == DeviceRecord.version else { throw .version(version) }
        let registered = try reader.number()
        _ = try reader.number()
        let flags = try DeviceRecord.flags(&reader)
        for detail in DeviceRecord.Detail.allCases where flags >> Int64(detail.rawValue) & 1 == 1 {
            _ = try reader.number()
        }
        for _ in 0..<(try reader.count(upTo: DeviceLimits.tags)) { _ = try reader.number() }
        (id, user, addresses) = try DeviceRecord.identity(&reader, flags: flags, registered: registered)
    }

    /// Ids and users are compared by their bytes, as in the indexes.
    package func belongs(to name: String, _ index: RegistryIndex) -> Bool {
        (index == .user ? user : id)?.utf8.elementsEqual(name.utf8) ?? false
    }

    /// The token of the device's app in an environment of APNs; nil if the device has none. If the device has several tokens, the
    /// result is the one that was registered last.
    package func token(in environment: DeviceAddress.Environment) -> [UInt8]? {
        addresses.filter {
            $0.address.service == .apns && $0.address.kind == .app && $0.address.environment == environment
        }.max { $0.since < $1.since }?.address.bytes
    }
}
