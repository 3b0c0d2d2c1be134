package import EventLoop
import RedisProtocol
package import Registry
package import StoreProtocol

/// Reads the records of all devices of an app, in the order of partition and ordinal.
@Loop package struct DeviceScan {
    /// The maximum number of hashes that one pipeline reads.
    private static let mostBlocks = 32
    /// How many bytes of records a pipeline should read. The number of hashes of the next pipeline is calculated from
    /// this value and from the size of the hashes that the last pipeline read.
    private static let wantedBytes = 2 << 20

    private let reader: RegistryReader
    private let partitions: [PartitionState]
    private var (partition, block) = (0, 0)
    private var blocksAtOnce = 8

    package init(_ reader: RegistryReader, _ partitions: [PartitionState]) {
        (self.reader, self.partitions) = (reader, partitions)
    }

    /// Reads the next devices.
    /// - Returns: a page of devices, which may be empty; nil after the last page.
    package mutating func next() async throws(StoreError) -> DevicePage? {
        while partition < partitions.count, block >= partitions[partition].blocks {
            (partition, block) = (partition + 1, 0)
        }
        guard partition < partitions.count else { return nil }
        let blocks = block..<min(block + blocksAtOnce, partitions[partition].blocks)
        let replies = try await reader.replies(
            blocks.map { reader.command("HGETALL", .records(block: $0), in: partition) })
        var (page, bytes) = (DevicePage(), 0)
        for (block, reply) in zip(blocks, replies) {
            guard reply.array != nil else { throw reader.unreadable(.records(block: block), in: partition) }
            for (ordinal, value) in records(of: block, reply) {
                bytes += value.bytes?.count ?? 0
                try await reader.read(
                    value, at: DevicePlace(partition: partition, ordinal: ordinal), into: &page)
            }
        }
        block = blocks.upperBound
        blocksAtOnce = max(1, min(Self.mostBlocks, Self.wantedBytes * blocks.count / max(1, bytes)))
        return page
    }

    /// The records of a hash in the order of their ordinals. Fields that are not ordinals of the hash are left out.
    private func records(of block: Int, _ reply: RESPValue) -> [(ordinal: Int, value: RESPValue)] {
        reply.pairs.compactMap { name, value in
            guard let number = name.text.flatMap({ Int(foreign: $0) }),
                (0..<RegistryKey.blockSize).contains(number)
            else { return nil }
            return (block * RegistryKey.blockSize + number, value)
        }.sorted { $0.ordinal < $1.ordinal }
    }
}
