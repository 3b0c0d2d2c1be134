/// The samples of a process by part, as `perf report` lists them.
package struct PerfShares: Sendable {
    /// The share of each part. The sum of all shares is 1.
    package private(set) var parts: [Part: Double] = [:]
    /// The functions with the greatest shares.
    package private(set) var functions: [Function] = []

    package struct Function: Sendable, Hashable {
        package let object: String
        package let name: String
        package internal(set) var share = 0.0
    }

    /// - Parameter text: output with lines of the form "share %|object|symbol". Other lines are ignored.
    package init(_ text: String) {
        var (sum, all) = (0.0, [Function: Double]())
        for line in text.split(separator: "\n") where !line.hasPrefix("#") {
            let fields = line.split(separator: "|").map { $0.trimming(while: { $0 == " " }) }
            guard fields.count == 3, let share = Double(fields[0].filter { $0 != "%" }) else { continue }
            // The symbol begins with "[.] " in user space and with "[k] " in the kernel.
            let symbol = String(fields[2].dropFirst(4))
            let part = Part(object: fields[2].hasPrefix("[k]") ? "[kernel]" : fields[1], symbol: symbol)
            parts[part, default: 0] += share
            let name = symbol.hasPrefix("0x") ? "without a name" : symbol
            all[Function(object: fields[1], name: name), default: 0] += share
            sum += share
        }
        guard sum > 0 else { return }
        parts = parts.mapValues { $0 / sum }
        functions = all.map { Function(object: $0.key.object, name: $0.key.name, share: $0.value / sum) }
            .sorted { $0.share > $1.share }
    }
}

extension StringProtocol {
    fileprivate func trimming(while isDropped: (Character) -> Bool) -> String {
        var text = drop(while: isDropped)
        while let last = text.last, isDropped(last) { text = text.dropLast() }
        return String(text)
    }
}
