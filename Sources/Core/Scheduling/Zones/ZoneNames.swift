import PushModel

/// The names of a time zone database, from its file `tzdata.zi`.
struct ZoneNames {
    /// The longest name in bytes.
    static let longest = 64
    /// The greatest number of names that are read. The database has about 600.
    private static let most = 5000

    /// The version of the database, such as `2025b`; nil if the file has none.
    let version: String?
    /// Names of zones in alphabetical order, then other names of the same zones.
    let all: [String]
    private let known: Set<String>

    /// Reads the lines that define a zone (`Z NAME …`) or another name for a zone (`L ZONE NAME`).
    /// - Source: the manual page zic(8), "FILES".
    init(_ text: [UInt8]) {
        var (version, zones, links) = (String?.none, Set<String>(), Set<String>())
        for line in text.split(separator: UInt8(ascii: "\n")) {
            let words = line.split(separator: UInt8(ascii: " "), maxSplits: 3)
            guard words.count > 2, zones.count + links.count < Self.most else { continue }
            let texts = words.map { String(decoding: $0, as: UTF8.self) }
            switch texts[0] {
            case "#" where version == nil && texts[1] == "version": version = texts[2]
            case "Z" where Self.isName(texts[1]): zones.insert(texts[1])
            case "L" where Self.isName(texts[2]): links.insert(texts[2])
            default: break
            }
        }
        self.version = version
        known = zones.union(links)
        all = zones.sorted() + links.subtracting(zones).sorted()
    }

    func contains(_ name: String) -> Bool { known.contains(name) }

    /// Whether a text may be the name of a file in the database's folder. A name never leads out of the folder.
    static func isName(_ text: String) -> Bool {
        guard (1...longest).contains(text.utf8.count) else { return false }
        return text.split(separator: "/", omittingEmptySubsequences: false).allSatisfy { part in
            part.utf8.first.map(isLetter) ?? false
                && part.utf8.allSatisfy {
                    isLetter($0) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
                        || "_+-".utf8.contains($0)
                }
        }
    }

    /// Returns the similar names, most similar first: the same name in other letters, a zone with the same city, and the name
    /// with the fewest other letters.
    func candidates(for name: String) -> [String] {
        let wanted = Self.plain(name)
        let city = Self.city(of: wanted)
        let same = all.filter { Self.plain($0) == wanted }
        let sameCity = all.filter { Self.city(of: Self.plain($0)) == city }
        return same + sameCity + (NearestWord.find(name, among: all).map { [$0] } ?? [])
    }

    /// The name as a text for an error: shortened, and without control characters.
    static func excerpt(of name: String) -> String {
        let visible = name.unicodeScalars.prefix(longest).filter { !UTF8Text.isControl($0) }
        return String(String.UnicodeScalarView(visible))
    }

    private static func plain(_ name: String) -> String {
        name.utf8.count > 2 * longest ? name : name.lowercased().replacing(" ", with: "_")
    }

    private static func city(of name: String) -> Substring { name.split(separator: "/").last ?? "" }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
    }
}
