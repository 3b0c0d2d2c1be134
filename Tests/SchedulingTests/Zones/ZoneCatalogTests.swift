import Foundation
import PushModel
import Scheduling
import Testing

struct ZoneCatalogTests {
    private static let list = """
        # version 2025b
        # This zic input file is in the public domain.
        R d 1916 o - Jun 14 23s 1 S
        Z Europe/Berlin 0:53:28 - LMT 1893 Ap
        1 c CE%sT 1945 May 24 2
        Z America/New_York -4:56:2 - LMT 1883 N 18 17u
        Z Etc/UTC 0 - UTC
        Z Asia/Tokyo 9:18:59 - LMT 1887 D 31 15u
        Z America/Argentina/Buenos_Aires -3:53:48 - LMT 1894 O 31
        Z Europe/Broken 1 - LMT 1894
        L Etc/UTC UTC
        L Asia/Tokyo Japan
        L Europe/Berlin ../../etc/passwd
        """

    /// A database with the zones of the list, except that the file of Buenos Aires is missing.
    private static func catalog(hasList: Bool = true) -> ZoneCatalog {
        let (berlin, utc) = (recordedZones.first { $0.name == "Europe/Berlin" }!, Zones.utcBytes)
        var files = [
            "/zones/Europe/Berlin": berlin.bytes, "/zones/America/New_York": berlin.bytes,
            "/zones/Asia/Tokyo": berlin.bytes, "/zones/Japan": berlin.bytes, "/zones/UTC": utc,
            "/zones/Etc/UTC": utc, "/zones/posixrules": utc, "/zones/Europe/Broken": Array("TZif".utf8),
            "/etc/passwd": utc, "/zones/../../etc/passwd": utc,
        ]
        if hasList { files["/zones/tzdata.zi"] = Array(list.utf8) }
        return ZoneCatalog(folder: "/zones") { [files] in files[$0] }
    }

    private static func fault(_ name: String, _ catalog: ZoneCatalog = catalog()) -> String? {
        do throws(ZoneError) { _ = try catalog.rules(name) } catch { return error.description }
        return nil
    }

    @Test func `finds the zones of the database`() throws {
        let catalog = Self.catalog()
        #expect(try catalog.rules("Europe/Berlin") == Zones["Europe/Berlin"])
        #expect(try catalog.rules("Japan").name == "Japan")
        #expect(catalog.find("Asia/Tokyo") != nil && catalog.find("Asia/Nowhere") == nil)
        #expect(catalog.version == "2025b")
        #expect(
            catalog.namesWithRules()
                == ["America/New_York", "Asia/Tokyo", "Etc/UTC", "Europe/Berlin", "Japan", "UTC"])
        try catalog.check()
    }

    /// A wrong name and the error.
    private static let wrong: [(String, String)] = [
        ("Europe/Berln", #"there is no time zone "Europe/Berln"; did you mean "Europe/Berlin"?"#),
        ("europe/berlin", #"there is no time zone "europe/berlin"; did you mean "Europe/Berlin"?"#),
        ("Berlin", #"there is no time zone "Berlin"; did you mean "Europe/Berlin"?"#),
        ("new york", #"there is no time zone "new york"; did you mean "America/New_York"?"#),
        ("US/New_York", #"there is no time zone "US/New_York"; did you mean "America/New_York"?"#),
        ("utc", #"there is no time zone "utc"; did you mean "UTC"?"#),
        ("Mars/Olympus", #"there is no time zone "Mars/Olympus"; a name looks like Europe/Berlin"#),
        // A name of the list without a file is not suggested.
        ("Buenos_Aires", #"there is no time zone "Buenos_Aires"; a name looks like Europe/Berlin"#),
        ("posixrules", #"there is no time zone "posixrules"; a name looks like Europe/Berlin"#),
        ("", #"there is no time zone ""; a name looks like Europe/Berlin"#),
        ("../../etc/passwd", #"there is no time zone "../../etc/passwd"; a name looks like Europe/Berlin"#),
        ("a\nb", #"there is no time zone "ab"; a name looks like Europe/Berlin"#),
        (
            "Europe/Broken",
            "the rules of the time zone Europe/Broken cannot be read: the file ends too early, at byte 4"
        ),
    ]

    @Test(arguments: wrong) func `a wrong name has an error with the nearest name`(
        name: String, error: String
    ) {
        #expect(Self.fault(name) == error)
    }

    @Test func `a long name is shortened`() {
        let error = Self.fault(String(repeating: "x", count: 5000))
        #expect(
            error?.utf8.count == 64 + #"there is no time zone ""; a name looks like Europe/Berlin"#.utf8.count
        )
    }

    @Test func `without a database, the error says what to install`() {
        let empty = ZoneCatalog(folder: "/zones") { _ in nil }
        let error = "there is no time zone database in /zones; install the package tzdata"
        #expect(Self.fault("Europe/Berlin", empty) == error)
        #expect(throws: ZoneError.noDatabase(folder: "/zones")) { try empty.check() }
        #expect(empty.namesWithRules().isEmpty)
    }

    @Test func `without a list, each file is a zone`() throws {
        let catalog = Self.catalog(hasList: false)
        #expect(try catalog.rules("Europe/Berlin") == Zones["Europe/Berlin"])
        #expect(catalog.version == nil && catalog.find("../../etc/passwd") == nil)
        #expect(
            Self.fault("Europe/Berln", catalog)
                == #"there is no time zone "Europe/Berln"; a name looks like Europe/Berlin"#)
    }

    @Test(
        .enabled(
            if: FileManager.default.fileExists(atPath: ZoneCatalog.systemFolder + "/tzdata.zi"),
            "the system has no tzdata"))
    func `reads all zones of the system`() throws {
        var opened = 0
        let catalog = ZoneCatalog { path in
            opened += 1
            return FileManager.default.contents(atPath: path).map(Array.init)
        }
        let names = catalog.namesWithRules()
        #expect(names.count > 300 && names.contains("Europe/Berlin"))
        for name in names { #expect(try catalog.rules(name).name == name) }
        #expect(opened < 1000)
        #expect(catalog.version?.hasPrefix("20") == true)
    }
}
