import PushModel
import Registry
import StoreProtocol

extension FuzzTarget {
    /// A device input, as producers in any language may write it.
    static let device = FuzzTarget(
        "device",
        words: [
            "\"id\":\"d-1\"", "\"token\":\"", "\"addresses\":[{", "\"service\":\"apns\"",
            "\"environment\":\"sandbox\"",
            "\"kind\":\"app\"", "\"user\":\"u\"", "\"tags\":[", "\"add_tags\":[\"a\"]",
            "\"remove_tags\":[\"b\"]",
            "\"zone\":\"", "Europe/Berlin", "Etc/GMT+5", "\"lang\":\"", "zh-hant-tw", "\"platform\":\"ios\"",
            "\"app\":\"", "\"os\":\"18.1\"", "\"model\":\"iPhone15,2\"", "\"remove\":true",
            "\"forget_user\":\"u\"",
            "00fc13adff785122b4ad28809a342098", "\\u00e9", "\\ud83d\\ude00", "\\\"", "null", "true", "[]",
            "{}",
            "],", "},", "\":", "\u{e9}", "\u{1f600}",
        ]
    ) { bytes throws(Violation) in
        let input: DeviceInput
        do throws(DeviceInputError) {
            input = try DeviceInputParser.parse(bytes)
        } catch {
            return try checkRefusal(error, of: bytes)
        }
        guard let text = try ReferenceJSON(accepted: bytes) else { return }
        try check(input, against: text)
    }

    private static func checkRefusal(_ error: DeviceInputError, of bytes: [UInt8]) throws(Violation) {
        try Violation.unless((0...bytes.count).contains(error.position), "the place lies outside: \(error)")
        try Violation.unless(!error.reason.isEmpty && !error.field.isEmpty, "says nothing: \(error)")
        let words = error.reason.utf8.split { !Character(Unicode.Scalar($0)).isHexDigit }
        try Violation.unless(words.allSatisfy { $0.count <= 40 }, "a token is in the words: \(error)")
        try Violation.unless(error.description.utf8.count < 1000, "too many words: \(error)")
    }

    private static func check(_ input: DeviceInput, against text: ReferenceJSON) throws(Violation) {
        switch input {
        case .set(let fields):
            try check(id: fields.id, text)
            try check(fields, against: text)
        case .change(let id, let added, let removed):
            try check(id: id, text)
            try check(tags: added, of: text["add_tags"])
            try check(tags: removed, of: text["remove_tags"])
            try Violation.unless(Set(added).isDisjoint(with: removed), "a tag is added and removed")
            try Violation.unless(!added.isEmpty || !removed.isEmpty, "a change of nothing")
        case .remove(let id, let day):
            try check(id: id, text)
            try Violation.unless((day != nil) == (text["seen"] != nil), "another day")
        case .invalidate(let address, let time):
            try Violation.unless(text["at"]?.integer == Int(time), "another time")
            try Violation.unless(DeviceLimits.addressBytes.contains(address.bytes.count), "no token")
        case .forget(let user):
            try Violation.unless(text["forget_user"]?.string == user, "another user")
            try Violation.unless(DeviceLimits.userBytes.contains(user.utf8.count), "a user of another length")
        }
    }

    private static func check(id: String, _ text: ReferenceJSON) throws(Violation) {
        try Violation.unless(text["id"]?.string == id, "another id")
        try Violation.unless(DeviceLimits.idBytes.contains(id.utf8.count), "an id of another length")
    }

    private static func check(tags: [String], of text: ReferenceJSON?) throws(Violation) {
        let wanted = (text?.elements ?? []).compactMap(\.string)
        try Violation.unless(tags == Set(wanted).sorted(), "other tags")
        try Violation.unless(
            tags.allSatisfy { DeviceLimits.valueBytes.contains($0.utf8.count) }, "a long tag")
    }

    /// Checks the fields, and that a record with these fields can be written and read.
    private static func check(_ fields: DeviceFields, against text: ReferenceJSON) throws(Violation) {
        try check(tags: fields.tags, of: text["tags"])
        let texts = [
            ("user", fields.user), ("zone", fields.zone), ("platform", fields.platform), ("app", fields.app),
            ("os", fields.os), ("model", fields.model), ("reachability", fields.reachability),
            ("network", fields.network),
        ]
        for (name, value) in texts {
            try Violation.unless(text[name]?.string == value, "another \(name)")
        }
        try Violation.unless(text["lang"]?.string?.lowercased() == fields.lang?.lowercased(), "another lang")
        let wanted = (text["addresses"]?.elements ?? [text]).compactMap { $0["token"]?.string?.lowercased() }
        try Violation.unless(
            wanted == fields.addresses.map { Hexadecimal.text(of: $0.bytes) }, "other addresses")
        let count = fields.addresses.count
        let least = fields.times == nil ? 1 : 0
        try Violation.unless((least...DeviceLimits.addresses).contains(count), "\(count) addresses")

        let record = DeviceRecord(fields, replacing: nil, now: 1_780_000_000)
        let names = record.attributes(SeenBitmaps()).map(\.text).sorted()
        let dictionary = AttributeNames(fields: zip(names, 1...).map { ($0, String($1)) })
        guard let written = record.bytes(names: dictionary) else { throw Violation("no record") }
        let read = try? DeviceRecord(bytes: written, names: dictionary)
        try Violation.unless(read == record, "another record")
    }
}
