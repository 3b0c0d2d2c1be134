/// Judges a run: compares the ledgers of producers and gateway with job records and events.
///
/// The checker does not know how the farm works. A delivery counts only if the gateway's ledger contains the delivery. A failure
/// counts only if a response of the gateway, an option of the job or an injected fault explains the failure.
package struct Checker {
    let evidence: Evidence
    let expectation: Expectation
    let pushes: JoinedPushes
    var verdict = Verdict()
    /// The tokens that the gateway refused with status 410.
    let invalidTokens: Set<String>

    package static func judge(_ evidence: Evidence, _ expectation: Expectation) -> Verdict {
        var checker = Checker(evidence, expectation)
        checker.checkLedgers()
        checker.checkCampaigns()
        checker.checkPushes()
        checker.checkJobRecords()
        checker.checkEvents()
        checker.checkOrder()
        checker.checkDevices()
        checker.checkSenders()
        checker.checkProgress()
        return checker.verdict
    }

    private init(_ evidence: Evidence, _ expectation: Expectation) {
        self.evidence = evidence
        self.expectation = expectation
        var verdict = Verdict()
        pushes = JoinedPushes(evidence, &verdict)
        invalidTokens = Set(evidence.gateway.lazy.filter { $0.status == 410 }.map(\.token))
        self.verdict = verdict
    }

    /// Whether Redis may have lost the data that it wrote at this time.
    func mayBeForgotten(_ time: Int64) -> Bool {
        expectation.rollBacks.contains { $0.forgotten.contains(time) }
    }
}
