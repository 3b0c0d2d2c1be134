import PushModel

/// The rules for texts of a device input. Each rule has a phrase that follows "must be" in error messages.
enum DeviceText {
    private static let longestID = DeviceLimits.idBytes.upperBound
    static let idRule =
        "a string of 1 to \(longestID) bytes, without control characters or white space at its ends"

    /// Whether the text can be the id of a device or of a user.
    static func isID(_ text: String) -> Bool {
        (1...longestID).contains(text.utf8.count) && !text.unicodeScalars.contains(where: UTF8Text.isControl)
            && !isSpace(text.unicodeScalars.first) && !isSpace(text.unicodeScalars.last)
    }

    private static func isSpace(_ scalar: Unicode.Scalar?) -> Bool {
        scalar?.properties.isWhitespace ?? false
    }

    static let longestTag = 64
    static let tagRule = "a string of 1 to \(longestTag) ASCII letters, digits and -_./+@#"

    /// Whether the text is a tag. A tag needs no quotation marks in a segment.
    static func isTag(_ text: String) -> Bool {
        (1...longestTag).contains(text.utf8.count)
            && text.utf8.allSatisfy { $0.isLetterOrDigit || "-_./+@#".utf8.contains($0) }
    }

    static let longestZone = 64
    static let zoneRule = "a time zone's name in the IANA database, such as \"Europe/Berlin\""

    /// Whether the text has the form of a zone's name in the IANA time zone database, such as `UTC`,
    /// `Etc/GMT+5` or `America/Argentina/Buenos_Aires`.
    /// - Source: tz database, theory.html, "Timezone identifiers".
    static func isZone(_ text: String) -> Bool {
        let parts = text.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        return text.utf8.count <= longestZone && parts.count <= 3
            && parts.allSatisfy { part in
                part.first.map { $0.isLetterOrDigit && !(0x30...0x39).contains($0) } ?? false
                    && part.allSatisfy { $0.isLetterOrDigit || "-_+".utf8.contains($0) }
            }
    }

    static let longestLanguage = 35
    static let languageRule = "a language tag of BCP 47, such as \"de\" or \"pt-BR\""

    /// The language tag with the letter case that RFC 5646 recommends, such as `zh-Hant-TW`; nil if the text
    /// does not have the form of a tag.
    ///
    /// A tag is two to eight letters, then subtags of one to eight letters and digits. The last subtag has at
    /// least two characters. The function does not check whether the subtags are registered.
    /// - Source: RFC 5646, sections 2.1 and 2.1.1.
    static func language(_ text: String) -> String? {
        guard text.utf8.count <= longestLanguage else { return nil }
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard let primary = parts.first, (2...8).contains(primary.utf8.count),
            primary.utf8.allSatisfy({ $0.isLetterOrDigit && $0 > 0x39 }),
            parts.allSatisfy({ (1...8).contains($0.utf8.count) && $0.utf8.allSatisfy(\.isLetterOrDigit) }),
            let last = parts.last, last.utf8.count > 1
        else { return nil }
        var isAfterSingleton = false
        return parts.enumerated().map { index, part in
            defer { if part.utf8.count == 1 { isAfterSingleton = true } }
            let lower = part.lowercased()
            if index == 0 || isAfterSingleton { return lower }
            return switch part.utf8.count {
            case 2: lower.uppercased()
            case 4: lower.prefix(1).uppercased() + lower.dropFirst()
            default: lower
            }
        }.joined(separator: "-")
    }

    static let longestVersion = 64
    static let versionRule =
        "a string of 1 to \(longestVersion) printable ASCII characters without \" and \\, and without spaces "
        + "at its ends"

    /// Whether the text can be a version of an app or of an operating system, or a device model such as `iPhone15,2`.
    static func isVersion(_ text: String) -> Bool {
        (1...longestVersion).contains(text.utf8.count)
            && text.utf8.allSatisfy {
                (0x20...0x7E).contains($0) && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\")
            } && !text.hasPrefix(" ") && !text.hasSuffix(" ")
    }

    /// Why background pushes may not reach a device: the user switched background refresh off, or often force-quits the app.
    static let reachabilities = ["refresh_off", "force_quit"]

    /// The kinds of networks.
    static let networks = ["wifi", "cellular"]

    /// The platforms of devices.
    static let platforms = [
        "ios", "ipados", "macos", "tvos", "watchos", "visionos", "android", "web",
    ]
}
