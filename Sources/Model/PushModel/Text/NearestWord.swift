/// Finds the known word that is most similar to an unknown word.
package enum NearestWord {
    /// The element of `words` with the smallest edit distance to `word`; nil if no element is similar enough.
    ///
    /// An element is similar enough if the distance is at most a third of the length of the shorter word. A distance of 1 is
    /// always enough. Case, `_`, `-` and `.` do not count. If `word` is a part of the element, such as `rate` of `max_rate`, the
    /// distance is at most 1.
    package static func find(_ word: String, among words: [String]) -> String? {
        guard word.utf8.count <= 64 else { return nil }
        let wanted = plain(word)
        var best: (word: String, distance: Int)?
        for candidate in words {
            let isPart = candidate.split(separator: "_").contains { plain(String($0)) == wanted }
            let edits = distance(wanted, plain(candidate))
            let distance = isPart ? min(1, edits) : edits
            guard distance <= max(1, min(wanted.count, candidate.utf8.count) / 3) else { continue }
            if distance < best?.distance ?? .max { best = (candidate, distance) }
        }
        return best?.word
    }

    private static func plain(_ word: String) -> [UInt8] {
        word.lowercased().utf8.filter {
            $0 != UInt8(ascii: "_") && $0 != UInt8(ascii: "-") && $0 != UInt8(ascii: ".")
        }
    }

    /// The smallest number of changes that turn `a` into `b`. A change inserts, deletes or replaces one letter, or swaps two
    /// neighbouring letters.
    private static func distance(_ a: [UInt8], _ b: [UInt8]) -> Int {
        var beforeLast = [Int](repeating: 0, count: b.count + 1)
        var last = Array(0...b.count)
        for i in a.indices {
            var row = [i + 1]
            for j in b.indices {
                var cost = min(last[j + 1] + 1, row[j] + 1, last[j] + (a[i] == b[j] ? 0 : 1))
                if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] {
                    cost = min(cost, beforeLast[j - 1] + 1)
                }
                row.append(cost)
            }
            (beforeLast, last) = (last, row)
        }
        return last[b.count]
    }
}
