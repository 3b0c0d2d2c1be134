/// The fields that many requests in a row have in common. Which bytes they are depends on the compression table, so they are
/// encoded when the first of those requests leaves, and again only when the table has changed.
final class SharedFields {
    struct Field {
        let pair: HeaderTable.Pair
        let isIndexed: Bool
    }

    private let pseudo: [Field]
    private let regular: [Field]
    private var front: [UInt8] = []
    private var back: [UInt8] = []
    /// Of the table that they were encoded for.
    private var generation: Int?

    init(_ fields: [Field]) {
        pseudo = fields.filter { $0.pair.name.first == UInt8(ascii: ":") }
        regular = fields.filter { $0.pair.name.first != UInt8(ascii: ":") }
    }

    /// The pseudo-header fields, and the others, as the next header block is to have them.
    func encoded(for table: inout HeaderTable) -> (front: [UInt8], back: [UInt8]) {
        if generation == table.generation { return (front, back) }
        front.removeAll(keepingCapacity: true)
        back.removeAll(keepingCapacity: true)
        let before = table.generation
        table.writeLimit(to: &front)
        for field in pseudo { write(field, to: &front, for: &table) }
        for field in regular { write(field, to: &back, for: &table) }
        // What has just been told to the peer is shorter from now on.
        generation = table.generation == before ? before : nil
        return (front, back)
    }

    private func write(_ field: Field, to block: inout [UInt8], for table: inout HeaderTable) {
        if field.isIndexed {
            table.write(field.pair, to: &block)
        } else {
            HeaderTable.writeUnindexed(field.pair, to: &block)
        }
    }
}
