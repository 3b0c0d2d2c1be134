/// A read of one key of a partition, which a plan needs.
package struct RegistryRead: Hashable, Sendable {
    package enum Part: Hashable, Sendable {
        /// These fields of a hash.
        case fields([[UInt8]])
        /// A whole hash.
        case hash
        /// The number of bytes of a string.
        case length
        /// A whole string.
        case string
        /// At most `count` members of a sorted set with scores lower than `below`, the lowest scores first.
        case lowestMembers(below: Int64, count: Int)
    }

    package let partition: Int
    package let key: RegistryKey
    package let part: Part

    package init(partition: Int, key: RegistryKey, part: Part) {
        (self.partition, self.key, self.part) = (partition, key, part)
    }
}

/// The reply to a ``RegistryRead``.
package enum RegistryReply: Sendable {
    /// In the order of the fields; nil for a missing field.
    case fields([[UInt8]?])
    case hash([(field: [UInt8], value: [UInt8])])
    case length(Int)
    /// Empty if the key does not exist.
    case string([UInt8])
    case members([String])
}

/// Why a plan cannot continue.
package enum RegistryPlanError: Error, Equatable, Sendable {
    /// The partition has another version than the caller knows: another writer has changed the partition, or Redis has
    /// lost changes.
    case stale(partition: Int, version: Int)
    /// The reply has a form that this read cannot have.
    case reply(RegistryRead)
}
