/// The result of a demo, which says whether all counts agree.
protocol DemoResult: Sendable {
    /// Sentences about counts that differ; empty if all counts agree.
    var faults: [String] { get }
    var json: JSONValue { get }
    var table: FactTable { get }
}

extension DemoResult {
    /// The counts as a table, and the verdict.
    func text(_ style: TextStyle) -> String {
        let verdict =
            faults.isEmpty
            ? Paint.green.on("It adds up.", if: style.colours)
            : faults.map { Paint.red.on("! " + $0, if: style.colours) }.joined(separator: "\n")
        return table.text(style) + "\n" + verdict + "\n"
    }
}
