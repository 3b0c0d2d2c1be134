import StoreProtocol

/// One report's content, as Redis gets it.
struct OutcomeReport {
    let runs: PositionRuns
    let entry: [UInt8]
    /// It holds only outcomes that hold for any owner.
    let isFinal: Bool

    /// About what it takes in memory.
    var byteCount: Int { runs.bytes.count + entry.count + 96 }
}
