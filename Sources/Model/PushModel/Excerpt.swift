/// A piece of the input for a message: short, so that no message holds a whole device token, and in one line.
package enum Excerpt {
    static let limit = 40

    package static func of(_ text: String) -> String {
        var text = text
        return text.withUTF8 { of(UnsafeRawBufferPointer($0)) }
    }

    static func of(_ bytes: UnsafeRawBufferPointer) -> String {
        let cut = UTF8Text.prefix(bytes, limit: limit)
        var scalars = String.UnicodeScalarView()
        for scalar in String(decoding: cut, as: UTF8.self).unicodeScalars {
            scalars.append(UTF8Text.isControl(scalar) ? " " : scalar)
        }
        return String(scalars) + (cut.count < bytes.count ? "…" : "")
    }
}
