package import Scheduling

/// The cells into which stages and cohorts divide an audience. Each device is in one cell, by its rank.
///
/// A device's rank depends only on its partition, its ordinal, and the campaign's salt. So no record is read to find the
/// devices of a cell.
package struct AudienceCells: Hashable, Sendable {
    /// A cell: a stage and a cohort.
    package struct Cell: Hashable, Sendable {
        /// 0 or more; 0 in rounds without stages.
        package let stage: Int
        /// 0 or more.
        package let cohort: Int

        package init(stage: Int, cohort: Int) { (self.stage, self.cohort) = (stage, cohort) }
    }

    package let stages: Int
    package let cohorts: Int
    /// The shares of all stages but the last, ascending.
    private let shares: [Double]
    private let seed: UInt64

    /// - Parameters:
    ///   - salt: ``Campaign/salt(id:)``.
    ///   - round: stages apply only to the first round, 1.
    package init(_ schedule: CampaignSchedule, salt: String, round: Int) {
        shares = round == 1 ? schedule.stages.dropLast().map(\.share) : []
        (stages, cohorts) = (shares.count + 1, schedule.cohorts)
        seed = AudienceHash.seed(ofSalt: salt)
    }

    /// The number of cells.
    package var count: Int { stages * cohorts }

    /// The index of a cell, 0..<``count``: the cells are in order of stage and then of cohort.
    package func index(of cell: Cell) -> Int { cell.stage * cohorts + cell.cohort }

    /// The cell of a device, by four bytes: the partition, and the ordinal in three bytes, big-endian.
    package func cell(partition: Int, ordinal: Int) -> Cell {
        guard count > 1 else { return Cell(stage: 0, cohort: 0) }
        let bytes = UInt32(truncatingIfNeeded: partition << 24 | ordinal & 0xFF_FFFF).bigEndian
        let rank = withUnsafeBytes(of: bytes) { AudienceHash(device: $0, seed: seed) }
        return Cell(
            stage: shares.firstIndex(where: rank.isAmongFirst) ?? shares.count,
            cohort: rank.cohort(of: cohorts))
    }
}
