/// A page of an uploaded list: up to 256 rows of one group.
///
/// The rows follow each other without a header, so that an upload can write a page in several pieces.
package struct ListPage: Sendable {
    /// The maximum number of rows of a page.
    package static let size = 256

    /// The rows in their order; nil for a row that is damaged.
    package let rows: [ListRow?]

    /// Reads the bytes of a page. If the bytes end within a row, this row and all rows behind it are not in ``rows``.
    package init(bytes: [UInt8]) {
        var rows: [ListRow?] = []
        var offset = 0
        while rows.count < Self.size, offset < bytes.count, let content = ListRow.read(bytes, at: &offset) {
            rows.append(content.row)
        }
        self.rows = rows
    }
}

/// A part of a page, as an upload writes it.
package struct ListPiece: Equatable, Sendable {
    /// The number of the group.
    package let group: Int
    /// The number of the page in its group.
    package let page: Int
    /// The offset of the piece in its page, in bytes.
    package let offset: Int
    package let bytes: [UInt8]

    /// The size of the page with the piece, in bytes.
    package var end: Int { offset + bytes.count }
}
