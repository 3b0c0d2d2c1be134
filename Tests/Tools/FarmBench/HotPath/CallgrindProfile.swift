/// Instructions by function, as callgrind counts them. The count of a function excludes the functions that it calls.
package struct CallgrindProfile: Sendable, Hashable {
    package struct Function: Sendable, Hashable {
        /// The file name of the function's program or library.
        package let object: String
        /// The name of the function; nil if the library has no names.
        package let name: String?

        package init(object: String, name: String?) { (self.object, self.name) = (object, name) }

        package var text: String { name ?? "\(object), without a name" }
    }

    package private(set) var counts: [Function: Int] = [:]
    /// The instructions of the excluded functions and of all functions that they called. ``counts`` contains these
    /// instructions too.
    package private(set) var leftOut = 0

    /// All instructions except the instructions of the excluded functions.
    package var total: Int { counts.values.reduce(0, +) - leftOut }

    package init(counts: [Function: Int] = [:]) { self.counts = counts }

    /// - Parameters:
    ///   - text: a callgrind file of format version 1, with one event and positions of one number.
    ///   - leavingOut: parts of the names of excluded functions. No excluded function may call another excluded
    ///     function.
    package init(_ text: String, leavingOut: [String] = []) {
        var (objects, names) = ([Substring: String](), [Substring: String]())
        var (object, name) = ("", String?.none)
        var (isCall, isLeftOut) = (false, false)
        for line in text.utf8.split(separator: UInt8(ascii: "\n")).map({ Substring($0) }) {
            if line.hasPrefix("ob=") {
                object =
                    Self.resolve(line.dropFirst(3), &objects).split(separator: "/").last.map(String.init)
                    ?? ""
            } else if line.hasPrefix("cob=") {
                _ = Self.resolve(line.dropFirst(4), &objects)
            } else if line.hasPrefix("fn=") {
                let word = Self.resolve(line.dropFirst(3), &names)
                name = word.hasPrefix("0x") ? nil : Self.withoutCycle(word)
            } else if line.hasPrefix("cfn=") {
                let word = Self.resolve(line.dropFirst(4), &names)
                isLeftOut = leavingOut.contains(where: word.contains)
            } else if line.hasPrefix("calls=") {
                isCall = true
            } else if let first = line.utf8.first, Self.isPosition(first) {
                // The line after `calls=` has the cost of the called function.
                defer { isCall = false }
                let words = line.split(separator: " ")
                guard words.count == 2, let cost = Int(words[1]) else { continue }
                guard !isCall else {
                    if isLeftOut { leftOut += cost }
                    continue
                }
                counts[Function(object: object, name: name), default: 0] += cost
            }
        }
    }

    package static func - (left: CallgrindProfile, right: CallgrindProfile) -> CallgrindProfile {
        var difference = CallgrindProfile(
            counts: left.counts.merging(right.counts.mapValues { -$0 }) { $0 + $1 })
        difference.leftOut = left.leftOut - right.leftOut
        return difference
    }

    /// Resolves a compressed name. The file gives a number to a name at the first use, and later writes only the
    /// number.
    private static func resolve(_ word: Substring, _ known: inout [Substring: String]) -> String {
        guard let end = word.firstIndex(of: ")") else { return String(word) }
        let (number, rest) = (word[...end], word[end...].dropFirst())
        guard !rest.isEmpty else { return known[number] ?? "" }
        let name = String(rest.drop { $0 == " " })
        known[number] = name
        return name
    }

    /// Removes the recursion depth from a function's name, as in "name'2".
    private static func withoutCycle(_ name: String) -> String {
        guard let mark = name.lastIndex(of: "'"), Int(name[mark...].dropFirst()) != nil else { return name }
        return String(name[..<mark])
    }

    private static func isPosition(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
            || [UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "*")].contains(byte)
    }
}
