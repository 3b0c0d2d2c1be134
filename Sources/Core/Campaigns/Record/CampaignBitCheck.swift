import Segments
import Variants

/// Compares the counts of a campaign's record with the bits of its devices, without I/O.
///
/// Read the record, then the bitmaps of all chunks, then the record again. The scripts that set bits add their number to the
/// counts, and nothing clears bits or lowers counts. So the number of set bits is at least the count of the first record, and at
/// most the count of the second record, also while the campaign runs.
package struct CampaignBitCheck: Sendable {
    /// A kind of bitmaps with a count in the record.
    package enum Bitmap: Hashable, Comparable, Sendable {
        /// The devices that a round has handled.
        case sent(round: Int)
        /// The devices that are done.
        case done
        /// The devices whose first reward was counted.
        case rewarded
        /// The variants of devices, as `VariantAssignment` stores them.
        case assigned
    }

    /// More than the greatest number of rounds, for damaged records.
    private static let mostRounds = 100

    private let id: String
    private let first: CampaignRecord
    private var bits: [Bitmap: Int] = [:]
    private var unreadable: [String] = []

    /// - Parameter record: the record before the bitmaps are read.
    package init(_ id: String, _ record: CampaignRecord) { (self.id, first) = (id, record) }

    /// The bitmaps that each chunk can have. The first record has no counts of the last round yet, because the round may begin
    /// during the check.
    package var bitmaps: [Bitmap] {
        (1...min(first.counts.rounds + 1, Self.mostRounds)).map { .sent(round: $0) }
            + [.done, .rewarded, .assigned]
    }

    /// Adds a bitmap of a chunk.
    ///
    /// - Parameter bytes: nil if Redis does not have the key, or has a key of another type.
    package mutating func add(_ bytes: [UInt8]?, of bitmap: Bitmap, in chunk: AudienceChunk) {
        guard let bytes else { return }
        let count =
            bitmap == .assigned
            ? VariantAssignment(bytes: bytes)?.count : OrdinalChunk(bytes: bytes)?.count
        guard let count else {
            let place = "of partition \(chunk.partition), chunk \(chunk.number)"
            unreadable.append("campaign \(id): the bitmap \(Self.name(bitmap)) \(place) cannot be read")
            return
        }
        bits[bitmap, default: 0] += count
    }

    /// Whether Redis lost changes during the check, so that the check must be repeated.
    ///
    /// - Parameter record: the record after the bitmaps were read.
    package func isOutdated(by record: CampaignRecord) -> Bool {
        bitmaps.contains { Self.count(of: $0, in: record) < Self.count(of: $0, in: first) }
    }

    /// The faults as texts.
    ///
    /// - Parameter record: the record after the bitmaps were read.
    package func faults(_ record: CampaignRecord) -> [String] {
        var faults = unreadable
        for bitmap in bitmaps {
            let (least, most) = (Self.count(of: bitmap, in: first), Self.count(of: bitmap, in: record))
            let found = bits[bitmap] ?? 0
            guard found < least || found > most else { continue }
            let counted = least == most ? "\(least)" : "\(least) to \(most)"
            faults.append(
                "campaign \(id): the record counts \(counted) \(Self.devices(bitmap)), and the bitmaps have \(found)"
            )
        }
        guard record.state == .finished, record.counts.rounds > 0 else { return faults }
        for round in 1...min(record.counts.rounds, Self.mostRounds) {
            let (audience, handled) = (
                record.counts[.audience, round], record.counts.handled(ofRound: round)
            )
            guard audience != handled else { continue }
            faults.append(
                "campaign \(id): round \(round) has an audience of \(audience), and its other counts have the sum \(handled)"
            )
        }
        return faults
    }

    private static func count(of bitmap: Bitmap, in record: CampaignRecord) -> Int {
        switch bitmap {
        case .sent(let round): record.counts.marked(ofRound: round)
        case .done: record.done
        case .rewarded: record.rewarded
        case .assigned: record.assigned
        }
    }

    private static func name(_ bitmap: Bitmap) -> String {
        switch bitmap {
        case .sent(let round): "sent of round \(round)"
        case .done: "done"
        case .rewarded: "rewarded"
        case .assigned: "assigned"
        }
    }

    private static func devices(_ bitmap: Bitmap) -> String {
        switch bitmap {
        case .sent(let round): "devices that round \(round) has handled"
        case .done: "devices that are done"
        case .rewarded: "devices with a reward"
        case .assigned: "devices with a variant"
        }
    }
}
