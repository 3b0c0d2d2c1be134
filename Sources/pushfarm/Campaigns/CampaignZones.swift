import Campaigns
import POSIX
import Scheduling

/// The time zones of this machine, for campaigns that a command reads.
final class CampaignZones {
    private let catalog = ZoneCatalog { path in try? SmallFile.read(path) }

    func rules(_ name: String) -> TimeZoneRules? { catalog.find(name) }

    /// The parser for definitions.
    var parser: CampaignParser { CampaignParser(catalog) }

    /// Fails if this machine has no rules of time zones, so that no zone is called unknown by mistake.
    func check() throws(CommandFailure) {
        do throws(ZoneError) { try catalog.check() } catch { throw .failed("\(error)") }
    }
}
