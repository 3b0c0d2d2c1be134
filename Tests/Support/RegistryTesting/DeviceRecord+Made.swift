import PushModel
package import Registry

extension DeviceRecord {
    /// A device with a token that its number determines.
    package static func made(
        _ number: Int, user: String? = nil, tags: [String] = [], details: [Detail: String] = [:],
        addresses: Int = 1, day: Int = 20_000
    ) -> DeviceRecord {
        let registered = Int64(1_700_000_000 + number)
        return DeviceRecord(
            id: "d-\(number)", user: user,
            addresses: (0..<addresses).map { index in
                Address(.made(number, index), since: registered + Int64(index))
            },
            tags: tags, details: details, registered: registered, lastSeenDay: day)
    }
}

extension DeviceAddress {
    /// Address `index` of device `number`. Addresses with an odd index are sandbox addresses.
    package static func made(_ number: Int, _ index: Int = 0) -> DeviceAddress {
        var random = SeededRandom(seed: UInt64(clamping: number * 16 + index))
        return DeviceAddress(
            environment: index.isMultiple(of: 2) ? .production : .sandbox,
            bytes: (0..<32).map { _ in UInt8.random(in: 0...255, using: &random) })
    }
}
