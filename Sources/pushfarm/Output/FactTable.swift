/// Names with a number or a text each.
struct FactTable {
    private var table = Table(["": .left, "": .right, "": .left])

    /// - Parameter always: a row even when the number is 0.
    mutating func add(
        _ name: String, _ count: Int, _ paint: Paint? = nil, note: String = "", always: Bool = false
    ) {
        guard always || count != 0 else { return }
        table.add(.init(name, .dim), .init(Figures.grouped(count), paint), .init(note))
    }

    /// The numbers of some reasons, the greatest first.
    mutating func add(reasons: [String: Int]) {
        for (reason, count) in reasons.sorted(by: { ($1.value, $0.key) < ($0.value, $1.key) }) {
            add("  " + reason, count)
        }
    }

    func text(_ style: TextStyle) -> String { table.text(style) }
}
