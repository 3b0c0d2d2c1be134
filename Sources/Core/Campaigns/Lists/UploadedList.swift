import PushModel

/// What the farm stores about an uploaded list, beside its pages.
package struct UploadedList: Equatable, Sendable {
    package enum State: String, Sendable {
        /// The upload has not ended. It may be killed, and then never ends.
        case uploading
        case ready
    }

    /// The rows of one time zone. The number of a group is its index.
    package struct Group: Hashable, Sendable {
        /// Nil for the rows without a time zone.
        package let zone: String?
        package let rows: Int

        package init(zone: String?, rows: Int) { (self.zone, self.rows) = (zone, rows) }

        /// The number of pages.
        package var pages: Int { (rows + ListPage.size - 1) / ListPage.size }
    }

    /// A name of values.
    package struct Column: Hashable, Sendable {
        package let name: String
        /// The number of rows with a value of this name.
        package let rows: Int
        /// The size of the longest of these values, in bytes of JSON without quotes; 0 if it is unknown.
        package let longest: Int

        package init(name: String, rows: Int, longest: Int = 0) {
            (self.name, self.rows, self.longest) = (name, rows, longest)
        }
    }

    /// The maximum number of lists of an app.
    package static let most = 100
    /// The maximum number of rows of a list.
    package static let mostRows = 1 << 24
    package static let mostGroups = 1_024
    /// The maximum number of names of values that are stored for a list.
    package static let mostColumns = 64
    /// How long a list is kept after its upload, and after each start of a campaign to it: 31 days, in seconds.
    package static let keepSeconds = 31 * 86_400
    /// How long the pages of an upload that does not end are kept: a day, in seconds.
    package static let uploadSeconds = 86_400

    package let name: String
    /// The unique name of the upload. The keys of the pages contain it, so that an upload never changes the pages of another upload.
    package let version: String
    package var state: State
    /// The operator who uploaded the list.
    package let by: String
    /// When the upload began, in Unix milliseconds.
    package let at: Int64
    /// When the list expires, in Unix milliseconds.
    package var expiresAt: Int64
    package var groups: [Group]
    package var columns: [Column]
    /// The rows of the file that were left out, because an earlier row had the same token.
    package var duplicates: Int
    /// The rows of the file that were not valid.
    package var refused: Int
    /// A hash of the file and of the choice of its columns, with which a repeated command finds the list that it uploaded; nil if
    /// it is unknown.
    package let fingerprint: String?

    package init(
        name: String, version: String, state: State, by: String, at: Int64, expiresAt: Int64,
        groups: [Group] = [], columns: [Column] = [], duplicates: Int = 0, refused: Int = 0,
        fingerprint: String? = nil
    ) {
        (self.name, self.version, self.state, self.by) = (name, version, state, by)
        (self.at, self.expiresAt, self.groups, self.columns) = (at, expiresAt, groups, columns)
        (self.duplicates, self.refused, self.fingerprint) = (duplicates, refused, fingerprint)
    }

    package var rows: Int { groups.reduce(0) { $0.adding(saturating: $1.rows) } }
}

/// The value in Redis: a JSON object.
extension UploadedList {
    package var json: [UInt8] {
        var text = JSONText()
        text.object { text in
            text.member("version", version)
            text.member("state", state.rawValue)
            text.member("by", by)
            text.member("at", at)
            text.member("expires_at", expiresAt)
            text.member("duplicates", duplicates)
            text.member("refused", refused)
            if let fingerprint { text.member("fingerprint", fingerprint) }
            text.key("groups")
            text.array { text in
                for group in groups {
                    text.object { text in
                        if let zone = group.zone { text.member("zone", zone) }
                        text.member("rows", group.rows)
                    }
                }
            }
            text.key("columns")
            text.array { text in
                for column in columns {
                    text.object { text in
                        text.member("name", column.name)
                        text.member("rows", column.rows)
                        text.member("longest", column.longest)
                    }
                }
            }
        }
        return text.bytes
    }

    /// Reads the value in Redis. Unknown members are ignored, so that a later release can add members.
    ///
    /// - Returns: nil if the value is not a list that this release can read.
    package init?(name: String, json: [UInt8]) {
        guard let tree = try? JSONTree(json), let version = tree["version"]?.text,
            Self.isVersion(version), let state = tree["state"]?.text.flatMap(State.init)
        else { return nil }
        func number(_ name: String, of tree: JSONTree) -> Int64 { max(0, tree[name]?.integer ?? 0) }
        var (groups, columns): ([Group], [Column]) = ([], [])
        for element in tree["groups"]?.elements ?? [] {
            let rows = number("rows", of: element)
            guard groups.count < Self.mostGroups, rows <= Self.mostRows else { return nil }
            groups.append(Group(zone: element["zone"]?.text, rows: Int(clamping: rows)))
        }
        for element in tree["columns"]?.elements.prefix(Self.mostColumns) ?? [] {
            guard let name = element["name"]?.text else { continue }
            columns.append(
                Column(
                    name: name, rows: Int(clamping: number("rows", of: element)),
                    longest: Int(clamping: number("longest", of: element))))
        }
        self.init(
            name: name, version: version, state: state, by: tree["by"]?.text ?? "",
            at: number("at", of: tree), expiresAt: number("expires_at", of: tree), groups: groups,
            columns: columns, duplicates: Int(clamping: number("duplicates", of: tree)),
            refused: Int(clamping: number("refused", of: tree)), fingerprint: tree["fingerprint"]?.text)
    }

    /// Whether a text can be the name of an upload, and so be in the key of a page.
    private static func isVersion(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count)
            && text.utf8.allSatisfy { $0.isLetterOrDigit || $0 == UInt8(ascii: "-") }
    }
}
