/// A parsed command line of words such as `only=a,b` and `quick`.
package struct Words {
    private let values: [String: String]

    package init(_ arguments: some Sequence<String>) {
        var values: [String: String] = [:]
        for argument in arguments {
            let parts = argument.split(separator: "=", maxSplits: 1).map(String.init)
            if let name = parts.first { values[name] = parts.count > 1 ? parts[1] : "" }
        }
        self.values = values
    }

    /// The value of a word; nil if the word is missing or its value is empty.
    package subscript(name: String) -> String? { values[name].flatMap { $0.isEmpty ? nil : $0 } }

    package func has(_ name: String) -> Bool { values[name] != nil }

    package func number(_ name: String) -> Double? { self[name].flatMap { Double($0) } }

    /// The comma-separated parts of a word's value.
    package func list(_ name: String) -> [String] {
        (self[name] ?? "").split(separator: ",").map(String.init)
    }
}
