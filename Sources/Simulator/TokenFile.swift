/// A file of device tokens: one a line, `TOKEN STATE [SINCE]`, `#` starts a comment.
///
/// STATE is one of ``TokenRule/words``; SINCE is in seconds since 1970, by default a day before the start.
enum TokenFile {
    static func read(_ path: String, into book: inout TokenBook, defaultSince: Int64) throws(SimulatorError) {
        let text = String(decoding: try PlainFile.read(path), as: UTF8.self)
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            let words = line.prefix { $0 != "#" }.split { $0 == " " || $0 == "\t" || $0 == "\r" }
            guard let token = words.first else { continue }
            let place = "\(path), line \(index + 1)"
            let since = words.count > 2 ? Int64(words[2]) : defaultSince
            guard (2...3).contains(words.count), let since else {
                throw .unusable("\(place): not \"TOKEN STATE [SINCE]\"")
            }
            guard let rule = TokenRule(word: words[1], since: since) else {
                throw .unusable(
                    "\(place): no state \"\(words[1])\"; there are \(TokenRule.words.joined(separator: ", "))"
                )
            }
            guard book.set(token, rule) else { throw .unusable("\(place): the token is not hexadecimal") }
        }
    }
}
