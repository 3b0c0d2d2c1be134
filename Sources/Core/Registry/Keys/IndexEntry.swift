/// The value of an index entry: the places of the devices that the entry points to.
///
/// An entry can point to several devices: two ids can have the same field, and a user can have several devices. The record
/// decides: readers ignore a place whose record does not have the id, the address or the user.
package struct IndexEntry: Equatable, Sendable {
    /// In ascending order of bytes, each place once.
    package private(set) var places: [DevicePlace]

    package init(_ places: [DevicePlace] = []) {
        self.places = places.count > 1 ? Set(places).sorted() : places
    }

    /// Reads an entry.
    ///
    /// - Parameter partition: the partition of the bucket. Entries of the index by id do not contain the partition.
    /// - Returns: nil unless the length is a multiple of three (index by id) or of four bytes (other indexes).
    package init?(bytes: [UInt8], of index: RegistryIndex, in partition: Int) {
        let size = index.placeBytes
        guard bytes.count.isMultiple(of: size) else { return nil }
        var places: [DevicePlace] = []
        places.reserveCapacity(bytes.count / size)
        for start in stride(from: 0, to: bytes.count, by: size) {
            let end = start + size
            let ordinal = Int(bytes[end - 3]) << 16 | Int(bytes[end - 2]) << 8 | Int(bytes[end - 1])
            places.append(
                DevicePlace(partition: index == .id ? partition : Int(bytes[start]), ordinal: ordinal))
        }
        self.init(places)
    }

    package func bytes(of index: RegistryIndex) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(places.count * index.placeBytes)
        for place in places {
            if index != .id { bytes.append(UInt8(truncatingIfNeeded: place.partition)) }
            bytes.append(UInt8(truncatingIfNeeded: place.ordinal >> 16))
            bytes.append(UInt8(truncatingIfNeeded: place.ordinal >> 8))
            bytes.append(UInt8(truncatingIfNeeded: place.ordinal))
        }
        return bytes
    }

    package var isEmpty: Bool { places.isEmpty }

    package mutating func insert(_ place: DevicePlace) { self = IndexEntry(places + [place]) }

    package mutating func remove(_ place: DevicePlace) { places.removeAll { $0 == place } }
}

extension RegistryIndex {
    /// The bytes of one place in an entry.
    fileprivate var placeBytes: Int { self == .id ? 3 : 4 }
}
