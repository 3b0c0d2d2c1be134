/// Cancelled pushes of one campaign in one batch, whose payloads may also have content of other campaigns of its merge group.
///
/// The scripts that cancel pushes keep them, so that the intake can send the content of the other campaigns:
///
///     entry := idLength u8 | campaign's id | first u16 | number u16 | mark u8 (number) | body of the batch
///
/// `first` is the position in the batch of the first mark, from 1. The mark is "x" for a push that was cancelled.
package struct CancelledPushes: Sendable {
    package let campaign: String
    /// The options of the pushes.
    package let options: PushOptions
    /// The tokens and the payloads of the pushes; at least one.
    package let pushes: [(token: [UInt8], payload: [UInt8])]

    /// - Throws: ``CodecError`` for an entry that cannot be read.
    package init(decoding entry: [UInt8]) throws(CodecError) {
        var positions: [Int] = []
        let (campaign, body) = try entry.withUnsafeBufferPointer { (buffer) throws(CodecError) in
            var reader = ByteReader(UnsafeRawBufferPointer(buffer))
            let id = reader.text(try reader.shortText(.jobID))
            let (first, count) = (Int(try reader.uint16()), Int(try reader.uint16()))
            for (offset, mark) in entry[try reader.range(count)].enumerated() where mark == UInt8(ascii: "x")
            {
                positions.append(first - 1 + offset)
            }
            return (id, Array(entry[reader.offset...]))
        }
        let batch = try Batch(decoding: body)
        guard let first = positions.first, positions.allSatisfy(batch.pushes.indices.contains) else {
            throw CodecError(fault: .value(.tokens), offset: entry.count - body.count)
        }
        self.campaign = campaign
        options = batch.jobParts[Int(batch.pushes[first].jobPart)].options
        pushes = positions.map { position in
            let push = batch.pushes[position]
            return (Array(batch.bytes[push.token]), Array(batch.bytes[push.payload]))
        }
    }
}
