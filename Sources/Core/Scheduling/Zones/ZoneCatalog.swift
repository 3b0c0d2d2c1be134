/// The time zones of the system's database, read when they are needed.
package final class ZoneCatalog {
    /// The folder of the database on Linux.
    package static let systemFolder = "/usr/share/zoneinfo"
    /// The greatest number of zones that stay in memory.
    private static let mostCached = 1000

    private let folder: String
    private let read: (String) -> [UInt8]?
    private let names: ZoneNames
    private var cache: [String: Result<TimeZoneRules, ZoneError>] = [:]

    /// - Parameter read: returns the bytes of a file, given its path; nil if there is no such file.
    package init(folder: String = systemFolder, read: @escaping (_ path: String) -> [UInt8]?) {
        (self.folder, self.read) = (folder, read)
        names = ZoneNames(read(folder + "/tzdata.zi") ?? [])
    }

    /// The version of the database, such as `2025b`; nil if the system does not tell it.
    package var version: String? { names.version }

    /// Returns the rules of a zone; nil if there are none. Fast also for unknown names.
    package func find(_ name: String) -> TimeZoneRules? { try? result(name)?.get() }

    /// Returns the rules of a zone that a configuration or a campaign names.
    package func rules(_ name: String) throws(ZoneError) -> TimeZoneRules {
        if let result = result(name) { return try result.get() }
        guard hasDatabase else { throw .noDatabase(folder: folder) }
        throw .unknown(name: name, nearest: names.candidates(for: name).first { find($0) != nil })
    }

    /// Checks that the system has a time zone database.
    package func check() throws(ZoneError) {
        guard hasDatabase else { throw .noDatabase(folder: folder) }
    }

    /// Returns the names that have rules, in alphabetical order. Reads all files of the database.
    package func namesWithRules() -> [String] { names.all.filter { find($0) != nil }.sorted() }

    private var hasDatabase: Bool { result("UTC") != nil || result("Etc/UTC") != nil }

    /// The rules or the fault of an existing file; nil without a file.
    private func result(_ name: String) -> Result<TimeZoneRules, ZoneError>? {
        if let cached = cache[name] { return cached }
        // Without tzdata.zi, each file of the folder may be a zone.
        guard names.all.isEmpty || names.contains(name), ZoneNames.isName(name),
            let bytes = read(folder + "/" + name)
        else { return nil }
        let result: Result<TimeZoneRules, ZoneError>
        do throws(TimeZoneError) { result = .success(try TimeZoneRules(name: name, bytes: bytes)) } catch {
            result = .failure(.unreadable(name: name, error))
        }
        if cache.count < Self.mostCached { cache[name] = result }
        return result
    }
}
