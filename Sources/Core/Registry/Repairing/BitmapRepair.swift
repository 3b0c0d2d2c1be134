import Segments
package import StoreProtocol

/// Corrects the bits of some devices in the bitmaps of one chunk, from the devices' records.
package struct BitmapRepair {
    private let cache: PartitionCache
    private let chunk: Int
    /// The ordinals whose records decide their bits.
    private var decided = OrdinalChunk()
    /// The bits that the records need, by the numbers of the bitmaps' names.
    private var bits: [Int: OrdinalChunk] = [:]

    /// - Parameters:
    ///   - cache: the state of the partition, at the version that the changes expect.
    ///   - chunk: the number of the chunk.
    package init(_ cache: PartitionCache, chunk: Int) { (self.cache, self.chunk) = (cache, chunk) }

    /// The numbers of the hashes with the records of a chunk.
    package static func blocks(ofChunk chunk: Int) -> Range<Int> {
        let count = OrdinalChunk.size / RegistryKey.blockSize
        return chunk * count..<(chunk + 1) * count
    }

    /// Adds all records of a hash. The bits of a device whose record cannot be read do not change.
    ///
    /// - Parameter records: the bytes of each record, by the number of its field.
    package mutating func add(block: Int, _ records: [Int: [UInt8]]) {
        let first = block * RegistryKey.blockSize - chunk * OrdinalChunk.size
        for field in 0..<RegistryKey.blockSize {
            let bit = UInt16(clamping: first + field)
            guard let bytes = records[field] else {
                decided[bit] = true
                continue
            }
            guard let record = try? DeviceRecord(bytes: bytes, names: cache.names) else { continue }
            decided[bit] = true
            for attribute in record.attributes(cache.seen) {
                guard let name = cache.names.number(of: attribute) else { continue }
                bits[name, default: OrdinalChunk()][bit] = true
            }
        }
    }

    /// The change that corrects a bitmap; nil if its bits are correct.
    ///
    /// - Parameters:
    ///   - name: the number of the bitmap's name.
    ///   - found: the bitmap's bytes, empty if Redis does not have the key; nil if the key is not a string. A bitmap that cannot be
    ///     read is written from the records alone, so all records of the chunk must have been added.
    package func change(of name: Int, _ found: [UInt8]?) -> PartitionChange? {
        let key = RegistryKey.bits(name: name, chunk: chunk).suffix
        let read = found.flatMap { OrdinalChunk(bytes: $0) }
        var right = read ?? OrdinalChunk()
        right.subtract(decided)
        right.formUnion(bits[name] ?? OrdinalChunk())
        guard right != read else { return nil }
        return right.isEmpty
            ? PartitionChange(.delete, key, []) : PartitionChange(.setString, key, [right.bytes])
    }
}
