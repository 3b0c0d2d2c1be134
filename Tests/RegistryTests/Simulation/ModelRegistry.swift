@testable import Registry

/// A simple registry of dictionaries. After some inputs, the tested registry must contain the same devices.
struct ModelRegistry {
    private(set) var devices: [String: DeviceFields] = [:]

    /// - Returns: false if the input is refused because the device is unknown.
    mutating func apply(_ input: DeviceInput) -> Bool {
        switch input {
        case .set(let fields):
            for (id, device) in devices where id != fields.id {
                devices[id] = device.with(
                    addresses: device.addresses.filter { !fields.addresses.contains($0) })
            }
            var tags = fields.tags
            tags = Set(tags).sorted()
            devices[fields.id] = fields.with(tags: tags)
        case .change(let id, let add, let remove):
            guard let device = devices[id] else { return false }
            devices[id] = device.with(tags: Set(device.tags).union(add).subtracting(remove).sorted())
        case .remove(let id, _): devices[id] = nil
        case .invalidate(let address, let time):
            // The simulation uses times before or after all registrations.
            guard time > 0 else { break }
            devices = devices.mapValues { device in
                device.with(addresses: device.addresses.filter { $0.identity != address.identity })
            }
        case .forget(let user): devices = devices.filter { $0.value.user != user }
        }
        return true
    }
}

extension DeviceFields {
    func with(addresses: [DeviceAddress]? = nil, tags: [String]? = nil) -> DeviceFields {
        DeviceFields(
            id: id, addresses: addresses ?? self.addresses, user: user, tags: tags ?? self.tags, zone: zone,
            lang: lang, platform: platform, app: app, os: os, model: model)
    }

    init(_ record: DeviceRecord) {
        self.init(
            id: record.id, addresses: record.addresses.map(\.address), user: record.user, tags: record.tags,
            zone: record.zone, lang: record.lang, platform: record.platform, app: record.app, os: record.os,
            model: record.model)
    }
}
