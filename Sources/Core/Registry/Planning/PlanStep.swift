package import StoreProtocol

/// The steps in which a plan is carried out. Each step starts when all partitions have carried out the step before it.
package enum PlanStep: CaseIterable, Sendable {
    /// Addresses leave their former devices, and indexes forget what devices no longer have.
    ///
    /// So an address is never at two devices, whenever the writer ends.
    case leave
    /// Records, with their bits and with their entries in the index by id, are written or removed.
    case register
    /// The indexes by address and by user point to the devices.
    case point
}

/// The changes of one partition in one step. They are applied together, or not at all.
package struct PlannedChanges: Sendable {
    package let partition: Int
    /// The version that the partition must have.
    package let version: Int
    package let changes: [PartitionChange]

    package init(partition: Int, version: Int, changes: [PartitionChange]) {
        (self.partition, self.version, self.changes) = (partition, version, changes)
    }
}
