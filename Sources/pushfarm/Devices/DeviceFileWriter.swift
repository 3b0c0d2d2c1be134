import PushModel
import Registry

/// Writes devices in the formats that `pushfarm devices import` reads.
struct DeviceFileWriter {
    let format: ImportFormat

    private static let columns = [
        "id", "token", "service", "environment", "kind", "user", "tags", "zone", "lang", "platform", "app",
        "os", "model", "reachability", "network", "since", "registered", "seen",
    ]

    /// The first line of a CSV file; nil for another format.
    var header: String? {
        format == .csv ? Self.columns.joined(separator: ",") : nil
    }

    /// The line of a device, with its line feed.
    /// - Throws: a failure if CSV cannot express the device.
    func line(of record: DeviceRecord) throws(CommandFailure) -> [UInt8] {
        switch format {
        case .ndjson: json(record)
        case .csv: try csv(record)
        }
    }

    private func json(_ record: DeviceRecord) -> [UInt8] {
        var json = JSONText(capacity: 256)
        json.object { json in
            json.member("id", record.id)
            if record.addresses.count == 1 {
                Self.add(record.addresses[0], to: &json)
            } else {
                json.key("addresses")
                json.array { json in
                    for address in record.addresses {
                        json.object { json in Self.add(address, to: &json) }
                    }
                }
            }
            if let user = record.user { json.member("user", user) }
            if !record.tags.isEmpty {
                json.key("tags")
                json.array { json in
                    for tag in record.tags { json.value(tag) }
                }
            }
            for (name, value) in Self.details(record) {
                if let value { json.member(name, value) }
            }
            json.member("registered", record.registered)
            json.member("seen", record.seenDate)
        }
        return json.bytes + [UInt8(ascii: "\n")]
    }

    private static func add(_ entry: DeviceRecord.Address, to json: inout JSONText) {
        let address = entry.address
        json.member("token", Hexadecimal.text(of: address.bytes))
        json.member("service", address.service.name)
        json.member("environment", address.environment.name)
        json.member("kind", address.kind.name)
        json.member("since", entry.since)
    }

    private static func details(_ record: DeviceRecord) -> [(name: String, value: String?)] {
        [
            ("zone", record.zone), ("lang", record.lang), ("platform", record.platform), ("app", record.app),
            ("os", record.os), ("model", record.model), ("reachability", record.reachability),
            ("network", record.network),
        ]
    }

    private func csv(_ record: DeviceRecord) throws(CommandFailure) -> [UInt8] {
        guard record.addresses.count <= 1 else {
            throw Self.inexpressible(record, "\(record.addresses.count) tokens")
        }
        let address = record.addresses.first?.address
        // The import divides the cell at these characters.
        if let tag = record.tags.first(where: { $0.contains { " ,;|".contains($0) } }) {
            throw Self.inexpressible(record, "the tag \"\(PlainText.of(tag))\"")
        }
        var cells: [String] = [
            record.id, address.map { Hexadecimal.text(of: $0.bytes) } ?? "", address?.service.name ?? "",
            address?.environment.name ?? "", address?.kind.name ?? "", record.user ?? "",
            record.tags.joined(separator: " "),
        ]
        cells += Self.details(record).map { $0.value ?? "" }
        cells += [
            record.addresses.first.map { "\($0.since)" } ?? "", "\(record.registered)", record.seenDate,
        ]
        return Array((cells.map(Self.cell).joined(separator: ",") + "\n").utf8)
    }

    private static func inexpressible(_ record: DeviceRecord, _ what: String) -> CommandFailure {
        .failed(
            "CSV cannot express \(what) of device \(PlainText.of(record.id)): use --format ndjson")
    }

    /// A cell, in quotes where necessary. A cell that begins with # is quoted, because the import could take an
    /// unquoted line with # for a remark of a file of refused records, and skip the line.
    private static func cell(_ text: String) -> String {
        let isPlain =
            text.utf8.first != UInt8(ascii: "#")
            && !text.utf8.contains { $0 < 0x20 || [UInt8]("\",;\t".utf8).contains($0) }
        return isPlain ? text : "\"" + text.replacing("\"", with: "\"\"") + "\""
    }
}
