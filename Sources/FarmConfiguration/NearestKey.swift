/// Finds the known word that an unknown one was most likely meant to be.
package enum NearestKey {
    /// The word with the fewest edits to `word`; the first of equals. `known` must not be empty.
    ///
    /// To leave out a part of the word, as in rate for max_rate, is one edit.
    package static func find(_ word: String, among known: [String]) -> String {
        let word = Array(word.utf8)
        return known.min { slip(word, Array($0.utf8)) < slip(word, Array($1.utf8)) } ?? ""
    }

    private static func slip(_ word: [UInt8], _ meant: [UInt8]) -> Int {
        let parts = meant.split { $0 == UInt8(ascii: "_") }
        let isPart = parts.count > 1 && parts.contains { $0.map(folded) == word.map(folded) }
        return isPart ? 1 : distance(word, meant)
    }

    /// Edits between two words: insert, delete, replace, or swap two neighbours. Words are cut at 64 bytes.
    static func distance(_ first: [UInt8], _ second: [UInt8]) -> Int {
        let first = first.prefix(64).map(folded)
        let second = second.prefix(64).map(folded)
        var rows = [Array(0...second.count)]
        for i in 1..<(first.count + 1) {
            var row = [i]
            for j in 1..<(second.count + 1) {
                let isSame = first[i - 1] == second[j - 1]
                var edits = min(rows[i - 1][j] + 1, row[j - 1] + 1, rows[i - 1][j - 1] + (isSame ? 0 : 1))
                if i > 1, j > 1, first[i - 1] == second[j - 2], first[i - 2] == second[j - 1] {
                    edits = min(edits, rows[i - 2][j - 2] + 1)
                }
                row.append(edits)
            }
            rows.append(row)
        }
        return rows[first.count][second.count]
    }

    /// Case and the kind of separator make no difference.
    private static func folded(_ byte: UInt8) -> UInt8 {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): byte + 32
        case UInt8(ascii: "-"): UInt8(ascii: "_")
        default: byte
        }
    }
}
