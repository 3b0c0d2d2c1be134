import PushModel

/// A segment that an operator saved under a name.
package struct SavedSegment: Equatable, Sendable {
    package let name: String
    /// The text of the segment's expression.
    package let expression: String
    /// The operator who saved the segment.
    package let by: String
    /// When the segment was saved, in Unix milliseconds of Redis's clock.
    package let at: Int64

    /// The largest number of saved segments of an app.
    package static let most = 1000
    /// The largest length of a name, in bytes.
    package static let longestName = 64

    package init(name: String, expression: String, by: String, at: Int64) {
        (self.name, self.expression, self.by, self.at) = (name, expression, by, at)
    }

    /// Whether a text can be the name of a segment: 1 to 64 of the characters `a-z A-Z 0-9 _ . -`, beginning with a letter or a
    /// digit. The text `all` cannot be a name, because it is an expression.
    package static func isName(_ text: String) -> Bool {
        guard (1...longestName).contains(text.utf8.count), text != "all" else { return false }
        let first = text.utf8.first.map(isLetterOrDigit) ?? false
        return first && text.utf8.allSatisfy { isLetterOrDigit($0) || [UInt8]("_.-".utf8).contains($0) }
    }

    private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: false
        }
    }
}

/// The value in Redis: a JSON object with the fields `expression`, `by` and `at`.
extension SavedSegment {
    package var json: String {
        JSONText.object { text in
            text.member("expression", expression)
            text.member("by", by)
            text.member("at", at)
        }
    }

    /// Decodes the JSON that Redis stores for a segment. Unknown fields are ignored, so that a later release can add fields.
    /// - Returns: nil if the JSON is not an object, if a field has the wrong type, or if the field `expression` is missing.
    package init?(name: String, json: [UInt8]) {
        let fields = json.withUnsafeBytes { bytes in
            try? Self.fields(JSONScanner(bytes))
        }
        guard let fields, let expression = fields.expression else { return nil }
        self.init(name: name, expression: expression, by: fields.by, at: fields.at)
    }

    private static func fields(
        _ start: JSONScanner
    ) throws(JSONError) -> (expression: String?, by: String, at: Int64) {
        var scanner = start
        var (expression, by, at): (String?, String, Int64) = (nil, "", 0)
        try scanner.start()
        try scanner.enterObject()
        while let key = try scanner.nextKey() {
            if scanner.matches(key, "expression") {
                expression = scanner.text(try scanner.string())
            } else if scanner.matches(key, "by") {
                by = scanner.text(try scanner.string())
            } else if scanner.matches(key, "at") {
                at = Int64(foreign: try scanner.integer())
            } else {
                _ = try scanner.skipValue()
            }
        }
        try scanner.end()
        return (expression, by, at)
    }
}
