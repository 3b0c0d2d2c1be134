/// Why the farm has no rules for a time zone.
package enum ZoneError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The system has no time zone database in the folder.
    case noDatabase(folder: String)
    /// The database has no such zone. `nearest` is a similar name that it has.
    case unknown(name: String, nearest: String?)
    case unreadable(name: String, TimeZoneError)

    package var description: String {
        switch self {
        case .noDatabase(let folder):
            "there is no time zone database in \(folder); install the package tzdata"
        case .unknown(let name, let nearest):
            "there is no time zone \"\(ZoneNames.excerpt(of: name))\""
                + (nearest.map { "; did you mean \"\($0)\"?" } ?? "; a name looks like Europe/Berlin")
        case .unreadable(let name, let error): "the rules of the time zone \(name) cannot be read: \(error)"
        }
    }
}
