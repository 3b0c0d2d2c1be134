/// Everything that the registry knows about a device. Indexes and bitmaps are derived from records.
package struct DeviceRecord: Equatable, Sendable {
    /// An address of the device, and the time of the last registration with the address.
    package struct Address: Equatable, Sendable {
        package let address: DeviceAddress
        /// The time of the last registration with the address, in Unix seconds. A registration within
        /// ``refreshSeconds`` after this time does not change it.
        package let since: Int64

        package init(_ address: DeviceAddress, since: Int64) {
            (self.address, self.since) = (address, since)
        }

        /// If a device registers again within this time, the times of its addresses do not change. So most repeated
        /// registrations do not change the record.
        package static let refreshSeconds: Int64 = 60

        /// The time of the address after a registration at the time `now`.
        ///
        /// - Parameter old: the time before the registration; nil if the device did not have the address.
        static func since(_ old: Int64?, now: Int64) -> Int64 {
            guard let old, now - old < refreshSeconds else { return now }
            return old
        }
    }

    /// An attribute with one value at most. The raw value is the attribute's bit in the bytes of a record.
    package enum Detail: UInt8, CaseIterable, Sendable {
        case zone = 0
        case lang, platform, app, os, model
        // Bit 6 is set if the device has a user.
        case reachability = 7
        case network

        /// The name of the attribute with this value, such as `zone:Europe/Berlin`.
        package func name(_ value: String) -> AttributeName {
            switch self {
            case .zone: .zone(value)
            case .lang: .lang(value)
            case .platform: .platform(value)
            case .app: .app(value)
            case .os: .os(value)
            case .model: .model(value)
            case .reachability: .reachability(value)
            case .network: .network(value)
            }
        }
    }

    package let id: String
    package var user: String?
    package private(set) var addresses: [Address]
    /// In ascending order, each tag once.
    package private(set) var tags: [String]
    /// In the order of ``Detail``, each detail once.
    private let details: [DetailValue]
    /// When the device was first registered, in Unix seconds.
    package let registered: Int64
    /// The day of the last registration, as a number of days since 1970 in UTC.
    package let lastSeenDay: Int

    package var zone: String? { self[.zone] }
    package var lang: String? { self[.lang] }
    package var platform: String? { self[.platform] }
    package var app: String? { self[.app] }
    package var os: String? { self[.os] }
    package var model: String? { self[.model] }
    package var reachability: String? { self[.reachability] }
    package var network: String? { self[.network] }

    package subscript(detail: Detail) -> String? { details.first { $0.detail == detail }?.value }

    /// Times before 1970 become 1970. If an address has an earlier time than the device, the address gets the time of
    /// the device's registration.
    package init(
        id: String, user: String?, addresses: [Address], tags: some Sequence<String>,
        details: [Detail: String], registered: Int64, lastSeenDay: Int
    ) {
        self.init(
            id: id, user: user, addresses: addresses, tags: Array(tags),
            details: Detail.allCases.compactMap { detail in
                details[detail].map { DetailValue(detail: detail, value: $0) }
            }, registered: registered, lastSeenDay: lastSeenDay)
    }

    private init(
        id: String, user: String?, addresses: [Address], tags: [String], details: [DetailValue],
        registered: Int64, lastSeenDay: Int
    ) {
        (self.id, self.user, self.details) = (id, user, details)
        (self.registered, self.lastSeenDay) = (max(0, registered), max(0, lastSeenDay))
        self.addresses = addresses.map { Address($0.address, since: max($0.since, 0, registered)) }
        self.tags = tags.count > 1 ? Set(tags).sorted() : tags
    }

    /// The record that a registration creates or replaces.
    ///
    /// - Parameters:
    ///   - old: the device's record before the registration.
    ///   - now: the time of the registration in Unix seconds.
    package init(_ fields: DeviceFields, replacing old: DeviceRecord?, now: Int64) {
        var addresses: [Address] = []
        let times = fields.times
        let since = times.map { $0.since + [Int64?](repeating: nil, count: fields.addresses.count) }
        for (index, address) in fields.addresses.enumerated() {
            let identity = address.identity
            if addresses.contains(where: { $0.address.identity == identity }) { continue }
            let known = old?.addresses.first { $0.address.identity == identity }
            let kept = times.map { min(since?[index] ?? $0.registered, now) }
            addresses.append(Address(address, since: kept ?? Address.since(known?.since, now: now)))
        }
        let details = Detail.allCases.compactMap { detail in
            fields[detail].map { DetailValue(detail: detail, value: $0) }
        }
        self.init(
            id: fields.id, user: fields.user, addresses: addresses, tags: fields.tags, details: details,
            registered: times.map { min($0.registered, now) } ?? old?.registered ?? now,
            lastSeenDay: max(
                old?.lastSeenDay ?? 0, min(times?.seenDay ?? .max, Self.day(of: now))))
    }

    /// Ids and users are compared by their bytes, as in the indexes.
    package static func == (one: Self, other: Self) -> Bool {
        one.id.utf8.elementsEqual(other.id.utf8) && one.isOf(user: other.user)
            && one.addresses == other.addresses && one.tags == other.tags && one.details == other.details
            && one.registered == other.registered && one.lastSeenDay == other.lastSeenDay
    }

    /// Whether the device belongs to the user; with nil, whether the device belongs to no user. Users are compared by
    /// their bytes.
    package func isOf(user: String?) -> Bool {
        guard let user, let own = self.user else { return user == nil && self.user == nil }
        return own.utf8.elementsEqual(user.utf8)
    }

    /// Whether the device can get pushes.
    package var isAlive: Bool { !addresses.isEmpty }

    /// Whether the device has an address with this identity.
    package func has(address identity: [UInt8]) -> Bool {
        addresses.contains { $0.address.identity == identity }
    }

    /// Removes the address with this identity.
    package mutating func leave(address identity: [UInt8]) {
        addresses.removeAll { $0.address.identity == identity }
    }

    /// Adds tags, and then removes tags.
    package mutating func change(addTags: [String], removeTags: [String]) {
        tags = Set(tags).union(addTags).subtracting(removeTags).sorted()
    }

    /// The attributes of the device, each once: first the tags in their order, then the details in the order of
    /// ``Detail``, then the others. Each attribute has a bitmap in which the device's bit is set.
    ///
    /// - Parameter seen: the partition's bitmaps of `seen`.
    package func attributes(_ seen: SeenBitmaps) -> [AttributeName] {
        var names = tags.map(AttributeName.tag)
        names.reserveCapacity(names.count + details.count + 6)
        for detail in details { names.append(detail.name) }
        names.append(seen.name(ofDay: lastSeenDay))
        if isAlive { names.append(.alive) }
        for (index, address) in addresses.enumerated() {
            let (service, environment) = (address.address.service, address.address.environment)
            let earlier = addresses[..<index]
            if !earlier.contains(where: { $0.address.service == service }) {
                names.append(.service(service))
            }
            if !earlier.contains(where: { $0.address.environment == environment }) {
                names.append(.environment(environment))
            }
        }
        return names
    }

    /// The day of a time in Unix seconds, as a number of days since 1970 in UTC; 0 for earlier times.
    package static func day(of time: Int64) -> Int { Int(foreign: max(0, time) / 86_400) }
}

/// An attribute of a record with one value at most, and its value.
private struct DetailValue: Equatable, Sendable {
    let detail: DeviceRecord.Detail
    let value: String

    var name: AttributeName { detail.name(value) }
}

extension DeviceFields {
    /// The value of an attribute with one value at most.
    fileprivate subscript(detail: DeviceRecord.Detail) -> String? {
        switch detail {
        case .zone: zone
        case .lang: lang
        case .platform: platform
        case .app: app
        case .os: os
        case .model: model
        case .reachability: reachability
        case .network: network
        }
    }
}

extension DeviceRecord {
    /// The value of an attribute, by the name that device inputs and placeholders use, such as `lang`.
    ///
    /// - Returns: nil if the device has no value, or if no attribute with one value has this name.
    package func value(ofAttribute name: String) -> String? {
        switch name {
        case "id": id
        case "user": user
        case "platform": platform
        case "lang": lang
        case "zone": zone
        case "app": app
        case "os": os
        case "model": model
        default: nil
        }
    }
}
