import FarmLogging
import PushModel
import Registry

/// How addresses are written.
enum AddressText {
    case whole
    /// Only the first characters, for output that may be copied into a ticket or a chat.
    case shortened

    private static let shown = 8

    /// The address as hex.
    func text(of address: DeviceAddress) -> String {
        let text = Hexadecimal.text(of: address.bytes)
        guard self == .shortened, text.utf8.count > Self.shown else { return text }
        return text.prefix(Self.shown) + "…"
    }
}

extension DeviceRecord {
    /// Everything that is stored about the device.
    func json(tokens: AddressText) -> JSONValue {
        let addresses = addresses.map { entry in
            JSONValue.object([
                "token": .string(tokens.text(of: entry.address)),
                "service": .string(entry.address.service.name),
                "environment": .string(entry.address.environment.name),
                "kind": .string(entry.address.kind.name), "since": .number(entry.since),
            ])
        }
        return .object([
            "id": .string(id), "user": .text(user), "addresses": .array(addresses), "tags": .strings(tags),
            "zone": .text(zone), "lang": .text(lang), "platform": .text(platform), "app": .text(app),
            "os": .text(os), "model": .text(model), "reachability": .text(reachability),
            "network": .text(network), "registered": .number(registered),
            "seen": .string(seenDate),
        ])
    }

    /// The day when the device was last seen, such as `2026-11-24`, in UTC.
    var seenDate: String { Self.date(ofDay: lastSeenDay) }

    /// All facts about the device as text, with one fact on each line.
    func text(_ style: TextStyle) -> String {
        var table = Table(["": .left, "": .left])
        func add(_ name: String, _ value: String?) {
            if let value { table.add(.init(name, .dim), .init(value)) }
        }
        add("device", id)
        add("user", user)
        for entry in addresses {
            let address = entry.address
            add("token", AddressText.whole.text(of: address))
            add(
                "",
                "\(address.service.name), \(address.environment.name), \(address.kind.name), since "
                    + "\(Timestamp(milliseconds: entry.since * 1000))")
        }
        if addresses.isEmpty { add("token", "none: the device gets no pushes") }
        add("tags", tags.isEmpty ? nil : tags.joined(separator: " "))
        for (name, value) in [
            ("zone", zone), ("lang", lang), ("platform", platform), ("app", app), ("os", os),
            ("model", model), ("reachability", reachability), ("network", network),
        ] {
            add(name, value)
        }
        add("registered", "\(Timestamp(milliseconds: registered * 1000))")
        add("seen", seenDate)
        return table.text(style)
    }

    /// 9999-12-31, because later dates have more than ten characters.
    private static let latestDay = 2_932_896

    private static func date(ofDay day: Int) -> String {
        String("\(Timestamp(milliseconds: Int64(min(day, latestDay)) * 86_400_000))".prefix(10))
    }
}
