import PushModel

/// A file of device tokens: one a line, `TOKEN STATE [SINCE]`, `#` starts a comment.
///
/// STATE is one of ``TokenRule/words``; SINCE is a time as in ``TimeText/since(_:now:)``, by default a day before the start.
enum TokenFile {
    /// - Parameter now: seconds since 1970.
    static func read(_ path: String, into table: inout TokenTable, now: Int64) throws(SimulatorError) {
        let text = String(decoding: try PlainFile.read(path), as: UTF8.self)
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            let words = line.prefix { $0 != "#" }.split { $0 == " " || $0 == "\t" || $0 == "\r" }
            guard let token = words.first else { continue }
            let place = "\(path), line \(index + 1)"
            guard (2...3).contains(words.count) else {
                throw .unusable("\(place): not \"TOKEN STATE [SINCE]\"")
            }
            let since = words.count > 2 ? TimeText.since(words[2], now: now) : now - 86_400
            guard let since else {
                throw .unusable(
                    "\(place): \"\(words[2])\" is no time: Unix seconds, 2026-05-01T10:00:00Z, or 3d for three days ago"
                )
            }
            guard let rule = TokenRule(word: words[1], since: since) else {
                throw .unusable(
                    "\(place): no state \"\(words[1])\"; there are \(TokenRule.words.joined(separator: ", "))"
                )
            }
            guard table.set(token, rule) else { throw .unusable("\(place): the token is not hexadecimal") }
        }
    }
}
