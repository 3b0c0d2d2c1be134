import Foundation
import PushModel
import Scheduling

/// The zones of the tests, read from recorded files.
enum Zones {
    private static let rules = Dictionary(
        uniqueKeysWithValues: recordedZones.map { zone in
            // swift-format-ignore: NeverUseForceTry
            (zone.name, try! TimeZoneRules(name: zone.name, bytes: zone.bytes))
        })

    static func rules(_ name: String) -> TimeZoneRules? { rules[name] }

    /// A file of version 1 with one offset and no change.
    static let utcBytes: [UInt8] =
        Array("TZif".utf8) + [UInt8](repeating: 0, count: 32)
        + [0, 0, 0, 1, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0] + Array("UTC\0".utf8)

    static subscript(name: String) -> TimeZoneRules { rules[name]! }
}

extension RecordedZone {
    var bytes: [UInt8] {
        Array(Data(base64Encoded: file, options: .ignoreUnknownCharacters) ?? Data())
    }

    /// The recorded changes as pairs of time in seconds and type.
    var changeTimes: [(time: Int64, type: (offset: Int64, abbreviation: String))] {
        var time: Int64 = 0
        return changes.split(whereSeparator: \.isWhitespace).map { entry in
            let parts = entry.split(separator: ":")
            time += Int64(parts[0])!
            return (time, types[Int(parts[1])!])
        }
    }
}

/// Returns the time of a text in ISO 8601, such as `2026-03-29T01:00Z`.
func utc(_ text: String) -> UTCTime { UTCTime(milliseconds: TimeText.moment(text)!) }

/// Returns a local time of a date and a time of day, such as `2026-03-29 02:30`.
func local(_ text: String) -> LocalTime {
    LocalTime(seconds: TimeText.moment(text.replacingOccurrences(of: " ", with: "T") + "Z")! / 1000)
}
