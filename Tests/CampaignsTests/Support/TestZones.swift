import Campaigns
import PushModel
import Scheduling

/// Zones for the tests, each with one rule for all times.
enum TestZones {
    private static let rules = [
        "UTC": "UTC0", "Europe/Berlin": "CET-1CEST,M3.5.0,M10.5.0/3", "Asia/Tokyo": "JST-9",
        "Asia/Kolkata": "IST-5:30", "America/New_York": "EST5EDT,M3.2.0,M11.1.0",
    ]

    static let names = rules.keys.sorted()

    static func rules(_ name: String) -> TimeZoneRules? {
        file(name).flatMap { try? TimeZoneRules(name: name, bytes: $0) }
    }

    /// The bytes of the zone's file.
    static func file(_ name: String) -> [UInt8]? { rules[name].map { file(rule: $0) } }

    /// A TZif file of version 2 without changes, whose rule holds for all times.
    /// - Source: RFC 8536, section 3.
    private static func file(rule: String) -> [UInt8] {
        // Counts: UT indicators, standard indicators, leap seconds, changes, types, bytes of abbreviations.
        let counts: [UInt8] = [0, 0, 0, 0, 1, 4].flatMap { [0, 0, 0, $0] }
        let header = Array("TZif2".utf8) + [UInt8](repeating: 0, count: 15) + counts
        let block: [UInt8] = [0, 0, 0, 0, 0, 0] + Array("LMT\0".utf8)
        return header + block + header + block + Array("\n\(rule)\n".utf8)
    }
}

/// Returns the time of a text in ISO 8601, such as `2026-03-29T01:00:00Z`.
func utc(_ text: String) -> UTCTime { UTCTime(milliseconds: TimeText.moment(text)!) }

/// Parses a definition that must be valid.
func campaign(_ text: String) throws -> Campaign {
    try CampaignParser(zones: TestZones.rules).parse(Array(text.utf8))
}
