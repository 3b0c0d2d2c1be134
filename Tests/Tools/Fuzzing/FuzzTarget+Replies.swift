import PushModel
import RESP
import RedisProtocol
import StoreProtocol

extension FuzzTarget {
    /// Unexpected replies of Redis. Each input is read as the reply of every kind of request.
    static let replies = FuzzTarget(
        "replies",
        words: respWords + [
            "$1\r\n1\r\n", "$5\r\n1-1,2\r\n", "$7\r\n03.h.1a\r\n", "$6\r\nintake\r\n", "-FENCED 03\r\n",
            "-STEP 7\r\n",
            "-TAKEN 1\r\n", "-EXISTS job\r\n", "-OOM x\r\n", "$7\r\n1:abc:h\r\n", "*5\r\n", "*6\r\n",
            "$4\r\nopen\r\n",
        ]
    ) { bytes throws(Violation) in
        let limits = RESPReader.Limits(bufferedBytes: 64 << 10, elements: 256)
        for value in RESPStream(bytes, limits: limits, piece: { $0 }).values {
            try readAll(value)
        }
    }

    private static let requests: [any Request.Type] = [
        AcquireLeases.self, AskForFeedback.self, CheckAccounting.self, CheckAccountingPart.self,
        BeginFeedback.self, RecordIntakeCrash.self,
        CancelBatches.self, PromoteJob.self, ChangePauses.self, ListDelayedOrPaused.self,
        CountUnconfirmed.self, DropUnreadable.self, ReadGuard.self, ResolveUnconfirmed.self,
        NoteUnsettleable.self, FindDamage.self,
        ReadPushCounts.self, ReadAges.self, ReadPauses.self, ReadAppState.self, ScanStates.self,
        SetAdmission.self, SetRate.self,
        Checkout.self, ClaimResults.self, CountDeadLetters.self, CreateResultsGroup.self,
        DropOldSuppressed.self, EndFeedback.self, ForgetApp.self, LastDeadLetter.self, LatestJobs.self,
        Repair.self,
        NextJob.self, TakeInputs.self, FinishInputs.self, AwaitInput.self, PushInputs.self,
        CountInputs.self,
        ChangeCampaign.self, StoreCampaignStep.self, MarkDone.self, MarkRewards.self, ReadVariantNumbers.self,
        ReadCampaign.self, LatestCampaigns.self,
        ForgetCampaigns.self, ReadCapPeriods.self, StoreCapPeriods.self, ReadStrings.self, ExpireKey.self,
        ReadKeyType.self, ReadKeyExpiry.self,
        ReadCampaignField.self, ReadJobMarks.self, FirstCancelledContent.self, RemoveCancelledContent.self,
        PostponeCancelledContent.self,
        QueueLookups.self, ReadLookups.self, FinishLookups.self,
        SubmitJob.self,
        QuarantineBatch.self, PauseApp.self, UpdateAdmission.self, PromoteDue.self, PutBack.self,
        ReadJobRecord.self, ReadInFlightShards.self,
        ReadAudit.self,
        ListReports.self, ReadBatches.self, ReadBatchStates.self, ReadDelayed.self, ReadListEnd.self,
        ReadDepths.self, ReadFeedbackStatus.self,
        ReadDeadLetters.self, ReadOwners.self, ReadRefusals.self, ReadRefused.self, ReadReplay.self,
        ReadResults.self,
        ReadScopes.self, ReadSuppressed.self, ReadSuppressionEnds.self, Reclaim.self,
        Refuse.self,
        ReleaseLeases.self, ResumePaused.self, RenewLeases.self, Replay.self, Report.self, ResumeApp.self,
        ApplyChanges.self, InitRegistryField.self, ReadFields.self, ReadHash.self, ReadLength.self,
        ReadLowestMembers.self, ReadRegistrySettings.self, ReadString.self,
        ScanJobRecords.self,
        ScanBatches.self,
        Settle.self,
        Split.self, PushJob.self, Suppress.self, Take.self, AddEvent.self, TrimDeadLetters.self,
        ReadSegments.self, SaveSegment.self, RemoveSegment.self,
        ReadLists.self, ReadList.self, SaveList.self, RemoveList.self, WriteListPage.self,
        ReadListPageSize.self,
        ExpireListPage.self, ReadListPage.self, RemoveListPages.self,
    ]

    private static func readAll(_ value: RESPValue) throws(Violation) {
        for request in requests { read(value, as: request) }
        for bytes in value.strings { try readPart(bytes) }
        if let fields = try? ReadJobRecord.result(value),
            let jobRecord = JobRecord(id: "j", app: "a", fields: fields)
        {
            try Violation.unless(jobRecord.queued.magnitude < 1 << 60, "\(jobRecord.queued) are queued")
        }
        if let records = try? ReadResults.result(value) {
            for case .closed(_, _, let positions) in records.map(\.content) {
                try Violation.unless(positions.allSatisfy { !$0.isEmpty }, "a run without positions")
                try Violation.unless(
                    zip(positions, positions.dropFirst()).allSatisfy { $0.upperBound <= $1.lowerBound },
                    "runs that do not ascend")
            }
        }
    }

    /// Parses a string of a reply in every way in which the product parses strings.
    private static func readPart(_ bytes: [UInt8]) throws(Violation) {
        let batch = BatchID(bytes)
        try Violation.unless((-1...9999).contains(batch.shard), "shard \(batch.shard)")
        _ = batch.lane
        for moment in [batch.madeAt, batch.waitsSince, EntryID(bytes).milliseconds] {
            try Violation.unless(moment.map { $0.magnitude <= 1 << 48 } ?? true, "a time \(moment ?? 0)")
        }
        let token = FenceToken(bytes)
        _ = (token.epoch, token.nonce, token.host, token.isFree)
        let text = String(decoding: bytes, as: UTF8.self)
        _ = EntryID(bytes).back(milliseconds: 86_400_000)
        if case .limit(let rate) = DesiredRate(text) {
            try Violation.unless(DesiredRate.rates.contains(rate), "a rate of \(rate)")
        }
        let command = FarmMessage(text)
        try Violation.unless(FarmMessage(command.text) == command, "another command")
        let info = RedisInfo(text)
        _ = (info.maxMemory, info.version, info.isAppendOnly)
    }

    private static func read<R: Request>(_ value: RESPValue, as request: R.Type) {
        do throws(StoreError) { _ = try R.result(value) } catch { _ = error.description }
    }
}
