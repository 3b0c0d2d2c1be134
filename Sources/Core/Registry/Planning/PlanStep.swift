package import StoreProtocol

/// The steps in which a plan is carried out. Each step starts when all partitions have carried out the step before it.
package enum PlanStep: CaseIterable, Sendable {
    /// Addresses are removed from their former devices, and indexes lose the addresses and users that devices no longer
    /// have.
    ///
    /// So two devices never have the same address, even if the writer crashes between two steps.
    case leave
    /// Records, with their bits and with their entries in the index by id, are written or removed.
    case register
    /// The indexes by address and by user point to the devices.
    case point
}

/// The changes of one partition in one step. Redis applies all changes of a step and partition together, or none of
/// them.
package struct PlannedChanges: Sendable {
    package let partition: Int
    /// The version that the partition must have.
    package let version: Int
    package let changes: [PartitionChange]

    package init(partition: Int, version: Int, changes: [PartitionChange]) {
        (self.partition, self.version, self.changes) = (partition, version, changes)
    }
}
