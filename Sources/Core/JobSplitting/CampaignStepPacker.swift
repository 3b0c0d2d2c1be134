package import PushModel
package import StoreProtocol

/// Packs the pushes of parsed jobs of one id into the batches of one step of a campaign.
package struct CampaignStepPacker {
    private var packer: BatchPacker
    private let id: String

    /// - Parameter id: the id of the job record that counts the pushes.
    package init(id: String, shards: Int, limits: StepLimits = StepLimits()) {
        self.id = id
        packer = BatchPacker(shards: shards, limits: limits)
        packer.begin(endsEarly: false)
    }

    /// Adds a job's pushes in their order.
    ///
    /// - Returns: how many of the accepted pushes fit into the step. If the step has no pushes yet, at least one push fits.
    package mutating func add(_ job: ParsedJob) -> Int {
        // The caller counts malformed pushes, so no events about them are written.
        var progress = IntakeJob.Progress(isOpened: true, malformed: job.malformed.count)
        _ = packer.pack(job, id: id, from: &progress, events: 0)
        return progress.accepted
    }

    /// The step's batches. Call this once.
    package mutating func finish() -> [Split.NewBatch] { packer.finish() }
}
