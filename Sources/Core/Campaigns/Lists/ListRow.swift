import PushModel

/// A row of an uploaded list: the push to one device.
package struct ListRow: Hashable, Sendable {
    /// The language that chooses the translation; nil for the default.
    package let lang: String?
    /// The JSON object of the push without `lang`, such as `{"token":"…","values":{"name":"Ada"}}`.
    package let push: [UInt8]

    /// The maximum size of ``push`` in bytes.
    package static let mostBytes = 8_192

    /// - Parameters:
    ///   - lang: at most 35 bytes.
    ///   - push: a JSON object with at least one member, of at most ``mostBytes`` bytes.
    init(lang: String?, push: [UInt8]) { (self.lang, self.push) = (lang, push) }

    /// Writes the JSON object of the push to a job.
    ///
    /// - Parameter hasLanguages: whether the job has translations, so that its pushes may have a language.
    func write(to text: inout JSONText, hasLanguages: Bool) {
        guard hasLanguages, let lang else { return text.value(json: push) }
        var start = JSONText()
        start.object { $0.member("lang", lang) }
        text.value(json: start.bytes.dropLast() + [UInt8(ascii: ",")] + push.dropFirst())
    }
}

/// The form of a row in a page: the length of the language in one byte, the language, the length of the push in two bytes
/// (big-endian), the push.
extension ListRow {
    func append(to page: inout [UInt8]) {
        let lang = Array((lang ?? "").utf8.prefix(clamping: Int(UInt8.max)))
        page.append(UInt8(clamping: lang.count))
        page += lang
        page.append(UInt8(truncatingIfNeeded: push.count >> 8))
        page.append(UInt8(truncatingIfNeeded: push.count))
        page += push
    }

    /// Reads the row at `offset`, and moves the offset behind it.
    ///
    /// - Returns: nil, with an unchanged offset, if the page ends before the row ends.
    static func read(_ page: [UInt8], at offset: inout Int) -> Content? {
        guard let langLength = page[checked: offset] else { return nil }
        let start = offset + 1 + Int(langLength)
        guard let high = page[checked: start], let low = page[checked: start + 1] else { return nil }
        let end = start + 2 + (Int(high) << 8 | Int(low))
        guard end <= page.count else { return nil }
        let lang = page[offset + 1..<start]
        offset = end
        return Content(lang: lang, push: page[start + 2..<end])
    }

    /// The bytes of a row, which are not checked yet.
    struct Content {
        let lang: ArraySlice<UInt8>
        let push: ArraySlice<UInt8>

        /// The row; nil if the bytes are not a language and a JSON object.
        var row: ListRow? {
            guard lang.isEmpty || JobLimits.isLanguage(String(decoding: lang, as: UTF8.self)) else {
                return nil
            }
            // An object with members. Otherwise the language could not be written before the first member.
            guard push.count > 2, push.starts(with: "{\"".utf8), isJSON else { return nil }
            return ListRow(
                lang: lang.isEmpty ? nil : String(decoding: lang, as: UTF8.self), push: Array(push))
        }

        private var isJSON: Bool {
            push.withUnsafeBytes { bytes in
                do throws(JSONError) { try JSONScanner.validate(bytes) } catch { return false }
                return true
            }
        }
    }
}
